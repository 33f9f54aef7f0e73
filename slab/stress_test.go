package slab

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"
)

// Four goroutines get, fill, check, release, release again, hand over and
// sometimes give back what is held. A buffer's contents are its owner's model: had two
// buffers overlapped, or one been handed out twice, a check would fail.
func TestStress(t *testing.T) {
	for _, dev := range []string{"heap", "mmap", "mmap:fixed"} {
		for _, c := range stressConfigs {
			t.Run(c.withDevice(dev), func(t *testing.T) {
				t.Parallel()
				c.MaxBytes = 256 << 20
				stress(t, openPool(t, dev, c), long(t, 4_000))
			})
		}
	}
}

// withDevice returns the line of c on another device.
func (c Config) withDevice(dev string) string {
	c.Device = dev
	return c.String()
}

func stress(t *testing.T, p *Pool, ops int) {
	const workers = 4
	hand := make(chan owned, 64)
	var wg sync.WaitGroup
	for g := range workers {
		wg.Go(func() {
			w := &stresser{t: t, p: p, r: rand.New(rand.NewPCG(1, uint64(g))), hand: hand, id: uint64(g) << 56}
			for range bounded(t, ops/workers, time.Second) {
				w.step()
			}
			for _, o := range w.live {
				w.release(o)
			}
		})
	}
	wg.Wait()
	close(hand)
	w := &stresser{t: t, p: p}
	for o := range hand {
		w.release(o)
	}
	checkNoneOut(t, p)
	p.StopHolding()
	checkNothing(t, p)
}

type owned struct {
	b    PooledBuffer
	mark uint64
}

type stresser struct {
	t    *testing.T
	p    *Pool
	r    *rand.Rand
	hand chan owned
	live []owned
	id   uint64
}

func (w *stresser) step() {
	switch k := w.r.IntN(1000); {
	case k < 500 && len(w.live) < 200:
		w.get()
	case k < 900:
		if o, ok := w.take(); ok {
			w.release(o)
		}
	case k < 950:
		if o, ok := w.take(); ok {
			select {
			case w.hand <- o:
			default:
				w.release(o)
			}
		}
	case k < 997:
		select {
		case o := <-w.hand:
			w.release(o)
		default:
		}
	case k < 998:
		w.p.FreeHeld()
	case k < 999:
		w.p.Trim(1)
	default:
		w.p.Stats()
	}
}

func (w *stresser) take() (o owned, ok bool) {
	if len(w.live) == 0 {
		return o, false
	}
	return takeAt(&w.live, w.r.IntN(len(w.live))), true
}

// get fills a new buffer: mark, position, mark, position ...
func (w *stresser) get() {
	b, err := w.p.Get(w.r.IntN(1 << w.r.IntN(17)))
	if err != nil {
		w.t.Error(err)
		return
	}
	w.id++
	m := b.Bytes()
	if len(m) != b.Len() || cap(m) != b.Len() {
		w.t.Errorf("%d bytes: len %d, cap %d", b.Len(), len(m), cap(m))
	}
	for i := 0; i+8 <= len(m); i += stride(len(m)) {
		binary.LittleEndian.PutUint64(m[i:], w.id+uint64(i))
	}
	if len(m) > 0 {
		m[len(m)-1] = byte(w.id)
	}
	w.live = append(w.live, owned{b, w.id})
}

// stride samples large buffers.
func stride(n int) int { return max(8, n/64&^7) }

func (w *stresser) release(o owned) {
	m := o.b.Bytes()
	if len(m) != o.b.Len() {
		w.t.Errorf("%d bytes: %d left", o.b.Len(), len(m))
	}
	bad := len(m) > 0 && m[len(m)-1] != byte(o.mark)
	for i := 0; i+8 <= len(m)-1; i += stride(len(m)) {
		bad = bad || binary.LittleEndian.Uint64(m[i:]) != o.mark+uint64(i)
	}
	if bad {
		w.t.Errorf("%d bytes: somebody else has written to them", o.b.Len())
	}
	if err := o.b.Release(); err != nil {
		w.t.Error(err)
	}
	if err := o.b.Release(); err != ErrReleased {
		w.t.Errorf("second Release: %v", err)
	}
	runtime.KeepAlive(m)
}

var stressConfigs = []Config{
	{Strategy: "direct"}, {Strategy: "exact"}, {Strategy: "bitlog"},
	{Strategy: "sizeclass"}, {Strategy: "sizeclass", CacheBytes: -1},
	{Strategy: "bestfit"}, {Strategy: "bestfit", CacheBytes: -1, MissTarget: 0.1},
	{Strategy: "slab"}, {Strategy: "slab", CacheBytes: -1},
	{Strategy: "slab", MaxHeld: 1 << 20}, {Strategy: "sizeclass", MaxHeld: 1 << 20},
	{Strategy: "slab", Check: true}, {Strategy: "sizeclass", TrimAfter: time.Millisecond},
}
