package bufslab_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
)

// Keyed growth: the largest buffer of a key is kept, sixteen keys a goroutine
// are asked for in turn, and all is warm. Beside package growpool stand the two
// usual answers by hand. Compare within one run only:
//
//	go test -run '^$' -bench Grow -cpu 1,2 -count 6 .

// A keeper hands out n bytes of a key's buffer, to be touched.
type keeper interface{ use(key, n int) }

// mapped is a map with a mutex.
type mapped struct {
	mu sync.Mutex
	m  map[int][]byte
}

func (k *mapped) use(key, n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.m[key]
	if cap(b) < n {
		b = make([]byte, n)
		k.m[key] = b
	}
	touch(b[:n])
}

// synced is a sync.Map with a mutex for each key.
type synced struct{ m sync.Map }

type syncedBuffer struct {
	mu sync.Mutex
	b  []byte
}

func (k *synced) use(key, n int) {
	v, ok := k.m.Load(key)
	if !ok {
		v, _ = k.m.LoadOrStore(key, new(syncedBuffer))
	}
	e := v.(*syncedBuffer)
	e.mu.Lock()
	defer e.mu.Unlock()
	if cap(e.b) < n {
		e.b = make([]byte, n)
	}
	touch(e.b[:n])
}

// grown is ours.
type grown struct{ p *growpool.Pool[int] }

func (k grown) use(key, n int) {
	v, err := growpool.Get[byte](k.p, key, n)
	if err != nil {
		panic(err)
	}
	touch(v.Slice())
}

// leased is ours, for goroutines that share keys.
type leased struct{ p *growpool.Pool[int] }

func (k leased) use(key, n int) {
	l, err := growpool.Acquire[byte](context.Background(), k.p, key, n)
	if err != nil {
		panic(err)
	}
	touch(l.Slice())
	if err := l.Release(); err != nil {
		panic(err)
	}
}

func newGrowPool(c growpool.Config) *growpool.Pool[int] {
	p, err := slab.OpenConfig(slab.Config{})
	if err != nil {
		panic(err)
	}
	return growpool.New[int](p, c)
}

// BenchmarkGrow is the cost of a hit.
func BenchmarkGrow(b *testing.B) {
	sizes := logUniform(1<<10, 4<<20)
	for _, s := range []struct {
		name string
		open func() keeper
	}{
		{"map", func() keeper { return &mapped{m: map[int][]byte{}} }},
		{"sync.Map", func() keeper { return new(synced) }},
		{"growpool", func() keeper { return grown{newGrowPool(growpool.Config{})} }},
		{"growpool,MaxBytes", func() keeper { return grown{newGrowPool(growpool.Config{MaxBytes: 4 << 30})} }},
		{"growpool,Acquire", func() keeper { return leased{newGrowPool(growpool.Config{})} }},
	} {
		b.Run("pool="+s.name, func(b *testing.B) { ask(b, s.open(), sizes) })
	}
}

func ask(b *testing.B, k keeper, sizes []int) {
	const keys = 16
	for key := range keys * runtime.GOMAXPROCS(0) {
		k.use(key, 4<<20)
	}
	var goroutines atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		base := int(goroutines.Add(1)-1) * keys
		for i := 0; pb.Next(); i++ {
			k.use(base+i%keys, sizes[i%len(sizes)])
		}
	})
}
