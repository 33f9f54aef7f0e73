package slab

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
)

// stressOps is how many operations TestStress does on each stack; the
// variable BUFSLAB_STRESS sets it.
func stressOps(t *testing.T) int {
	if v := os.Getenv("BUFSLAB_STRESS"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if testing.Short() || raceEnabled {
		return 100_000
	}
	return 400_000
}

// Four goroutines get, fill, check, release, release again, hand over and
// sometimes give back what is held. A buffer's contents are its owner's model: had two
// buffers overlapped, or one been handed out twice, a check would fail.
func TestStress(t *testing.T) {
	for _, dev := range []string{"heap", "mmap", "mmap:fixed"} {
		for _, c := range stressConfigs {
			t.Run(dev+","+c.Strategy, func(t *testing.T) {
				t.Parallel()
				c.MaxBytes = 256 << 20
				stress(t, openPool(t, dev, c), stressOps(t))
			})
		}
	}
}

func stress(t *testing.T, p *Pool, ops int) {
	const workers = 4
	hand := make(chan owned, 64)
	var wg sync.WaitGroup
	for g := range workers {
		wg.Go(func() {
			w := &stresser{t: t, p: p, r: rand.New(rand.NewPCG(1, uint64(g))), hand: hand, id: uint64(g) << 56}
			for range ops / workers {
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
	checkQuiet(t, p)
	p.StopHolding()
	if s := p.Stats(); s.ManagedBytes != 0 || s.HeldBytes != 0 || s.ActiveBlocks != 0 {
		t.Errorf("after StopHolding %+v", s)
	}
}

// checkQuiet checks the identities of a pool that nobody uses at the moment.
func checkQuiet(t testing.TB, p *Pool) {
	t.Helper()
	s := p.Stats()
	if sum := s.ActiveBytes + s.RoundingBytes + s.HeldBytes + s.UnusableBytes; sum != s.ManagedBytes ||
		s.RoundingBytes < 0 || s.HeldBytes < 0 || s.UnusableBytes < 0 || s.ActiveBytes < 0 {
		t.Errorf("managed %d, sum %d: %+v", s.ManagedBytes, sum, s)
	}
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
	i := w.r.IntN(len(w.live))
	o = w.live[i]
	last := len(w.live) - 1
	w.live[i], w.live = w.live[last], w.live[:last]
	return o, true
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

var stressConfigs = []Config{{Strategy: "bestfit"}, {Strategy: "slab"}, {Strategy: "slab", CacheBytes: -1}}
