package ended

import "github.com/bufslab/bufslab/slab"

func beforeALoop(b slab.PooledBuffer, in []byte) (sum byte) {
	b.Release()
	for _, x := range in {
		sum += x
	}
	return sum + b.Bytes()[0] // want `buffer is used after its Release on line 6`
}
