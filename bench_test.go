package bufslab_test

import (
	"math/bits"
	"strconv"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/slab"
)

// One table of pools and, in bench_work_test.go, one of workloads: every
// strategy beside make and sync.Pool. Compare within one run only:
//
//	go test -run '^$' -bench 'Pair|Burst|Churn|HandOver' -cpu 1,2 .
//	go test -run '^$' -bench Collect -benchtime 1x .
//	go test -run '^$' -bench Holes .

// A subject hands out bytes and a way to give them back. Its handle H is its
// own, so that none pays for another's.
type subject[H any] interface {
	get(n int) (H, []byte)
	put(H)
}

// A bench is a subject with its handle bound: one closure a workload.
type bench struct {
	name                  string
	pair, burst, handOver func(*testing.B, int)
	churn, keyed, collect func(*testing.B)
}

func newBench[H any](name string, open func() subject[H]) bench {
	return bench{
		name:     name,
		pair:     func(b *testing.B, n int) { pair(b, open(), n) },
		burst:    func(b *testing.B, n int) { burst(b, open(), n) },
		handOver: func(b *testing.B, n int) { handOver(b, open(), n) },
		churn:    func(b *testing.B) { churn(b, open()) },
		keyed:    func(b *testing.B) { keyed(b, open()) },
		collect:  func(b *testing.B) { collect(b, open()) },
	}
}

var benches = append([]bench{
	newBench("make", func() subject[[]byte] { return made{} }),
	newBench("sync.Pool", func() subject[*[]byte] { return new(syncPool) }),
},
	ours("device=heap,strategy=sizeclass"), ours("device=heap,strategy=sizeclass,cache_bytes=0"),
	ours("device=heap,strategy=exact"), ours("device=heap,strategy=bitlog"),
	ours("device=heap,strategy=bestfit"), ours("device=heap,strategy=slab"),
	ours("device=mmap,strategy=slab"), ours("device=mmap,strategy=sizeclass"),
)

// made is what every program starts with.
type made struct{}

func (made) get(n int) ([]byte, []byte) { b := make([]byte, n); return b, b }
func (made) put([]byte)                 {}

// syncPool is the usual answer by hand: a sync.Pool a power of two.
type syncPool struct{ pools [40]sync.Pool }

func class(n int) int { return max(6, bits.Len(uint(n-1))) }

func (s *syncPool) get(n int) (*[]byte, []byte) {
	c := class(n)
	b, _ := s.pools[c].Get().(*[]byte)
	if b == nil {
		m := make([]byte, 1<<c)
		b = &m
	}
	return b, (*b)[:n]
}

func (s *syncPool) put(b *[]byte) { s.pools[class(cap(*b))].Put(b) }

// pool is one of ours, as a user would open it.
type pool struct{ p *slab.Pool }

func ours(line string) bench {
	return newBench(line, func() subject[slab.PooledBuffer] {
		c, err := slab.ParseConfig(line)
		if err != nil {
			panic(err)
		}
		p, err := slab.OpenConfig(c)
		if err != nil {
			panic(err)
		}
		return pool{p}
	})
}

func (s pool) get(n int) (slab.PooledBuffer, []byte) {
	b, err := s.p.Get(n)
	if err != nil {
		panic(err)
	}
	return b, b.Bytes()
}

func (s pool) put(b slab.PooledBuffer) {
	if err := b.Release(); err != nil {
		panic(err)
	}
}

// each runs f for every subject.
func each(b *testing.B, f func(*testing.B, bench)) {
	for _, s := range benches {
		b.Run("pool="+s.name, func(b *testing.B) { f(b, s) })
	}
}

// sized runs f for every size.
func sized(b *testing.B, f func(*testing.B, int), sizes ...int) {
	for _, n := range sizes {
		b.Run("size="+strconv.Itoa(n), func(b *testing.B) { f(b, n) })
	}
}
