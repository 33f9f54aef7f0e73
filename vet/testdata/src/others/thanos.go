package others

import "github.com/thanos-io/thanos/pkg/pool"

func thanos(p *pool.BucketedPool[byte]) byte {
	b, err := p.Get(100)
	if err != nil {
		return 0
	}
	p.Put(b)
	return (*b)[0] // want `pooled object is used after its Put`
}
