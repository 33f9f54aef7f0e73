package slab

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
)

func TestProcessorsMayComeAndGo(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p := openPool(t, "heap", Config{})
	var all sync.WaitGroup
	for g := range uint64(4) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(g, 1))
			for i := range 3000 {
				if g == 0 && i%100 == 0 {
					runtime.GOMAXPROCS(1 + r.IntN(8))
				}
				b, err := p.Get(1 + r.IntN(5000))
				if err != nil {
					t.Error(err)
				}
				b.Bytes()[0] = 1
				if err := b.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	checkQuiet(t, p)
	if s := p.Stats(); s.ActiveBlocks != 0 {
		t.Errorf("%+v", s)
	}
}

// cachedBytes is what the caches of a pool hold, and the most of a processor.
func cachedBytes(p *Pool) (sum, most int64) {
	for i := range p.c.cache.shards {
		n := p.c.cache.shards[i].granted
		sum, most = sum+n, max(most, n)
	}
	return sum, most
}

func TestCachesAreBounded(t *testing.T) {
	for _, c := range []Config{
		{Strategy: "sizeclass", CacheBytes: 100_000}, {Strategy: "slab", CacheBytes: 100_000},
		{Strategy: "slab"}, {Strategy: "bestfit"},
	} {
		p := openPool(t, "mmap", c)
		r := rand.New(rand.NewPCG(7, 7))
		var live []PooledBuffer
		for range 300 {
			for range 100 {
				live = append(live, mustGet(t, p, 1+r.IntN(20_000)))
			}
			for len(live) > 50 {
				live[0].Release()
				live = live[1:]
				sum, most := cachedBytes(p)
				if limit := p.c.config.CacheBytes; most > limit {
					t.Fatalf("%+v: %d bytes cached of %d", c, most, limit)
				}
				if m := p.Stats().ManagedBytes; c.Strategy != "sizeclass" && sum > max(m/smallShare, int64(len(p.c.cache.shards))*leastCache) {
					t.Fatalf("%+v: %d bytes cached, %d managed", c, sum, m)
				}
			}
		}
		if sum, _ := cachedBytes(p); sum == 0 {
			t.Errorf("%+v: nothing is cached", c)
		}
	}
}

func TestTrimReturnsWhatWent(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		p := openPool(t, dev, c)
		var live []PooledBuffer
		for n := range 50 {
			live = append(live, mustGet(t, p, 1+n*1000))
		}
		for _, b := range live {
			b.Release()
		}
		for range 6 {
			before := p.Stats().ManagedBytes
			if n, after := p.Trim(1), p.Stats().ManagedBytes; n != before-after {
				t.Errorf("Trim returned %d, managed went from %d to %d", n, before, after)
			}
		}
		if m := p.Stats().ManagedBytes; m != 0 {
			t.Errorf("%d bytes left of an idle pool", m)
		}
	})
}

func TestLeaksNeedToBeAskedFor(t *testing.T) {
	p := openPool(t, "heap", Config{})
	b := mustGet(t, p, 100)
	if l := p.Leaks(); l != nil {
		t.Errorf("%+v", l)
	}
	b.Release()
}

// A pool over what is no device: any Allocator will do.
func TestOpenOnAnyAllocator(t *testing.T) {
	for _, s := range Strategies() {
		up := &fake{host: true}
		p, err := Open(up, Config{Strategy: s})
		if err != nil {
			t.Fatal(err)
		}
		b, err := p.GetZeroed(1000)
		if err != nil || len(b.Bytes()) != 1000 {
			t.Errorf("%s: %d bytes, %v", s, len(b.Bytes()), err)
		}
		b.Release()
		checkQuiet(t, p)
		if st := p.Stats(); st.ManagedBytes != up.bytes || st.UpstreamAllocs != int64(up.allocs) || st.UpstreamFrees != int64(up.frees) {
			t.Errorf("%s: %+v, upstream %d, %d, %d", s, st, up.bytes, up.allocs, up.frees)
		}
		if err := p.Close(); err != nil || up.bytes != 0 {
			t.Errorf("%s: %v, %d bytes left", s, err, up.bytes)
		}
	}
}

func TestGetZeroedNeedsADeviceForMemoryOutOfReach(t *testing.T) {
	up := &fake{}
	p, err := Open(up, Config{Strategy: "exact"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.GetZeroed(100); !errors.Is(err, device.ErrUnavailable) {
		t.Error(err)
	}
	if s := p.Stats(); s.ActiveBlocks != 0 || s.DoubleReleases != 0 {
		t.Errorf("%+v", s)
	}
}

// misaligned has memory that begins at an odd address.
type misaligned struct{ fake }

func (m *misaligned) Alloc(size int) (device.Block, error) {
	b, err := m.fake.Alloc(size + 1)
	b.Off, b.Len = 1, size
	return b, err
}

func (m *misaligned) Free(b device.Block) {
	b.Off, b.Len = 0, b.Len+1
	m.fake.Free(b)
}

func TestGetTellsOfABrokenUpstream(t *testing.T) {
	for _, s := range Strategies() {
		odd := &misaligned{fake{host: true}}
		short := &broken{b: device.Block{Region: &fakeRegion{size: 100}, Len: 10}}
		beyond := &broken{b: device.Block{Region: &fakeRegion{size: 100}, Off: 90, Len: 1000}}
		none := &broken{b: device.Block{Len: 1000}}
		for name, up := range map[string]Allocator{"misaligned": odd, "short": short, "beyond": beyond, "no region": none} {
			p, err := Open(up, Config{Strategy: s})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := p.Get(1000); !errors.Is(err, ErrUpstream) {
					t.Errorf("%s, %s: %v", s, name, err)
				}
			}
			if st := p.Stats(); st != (Stats{}) {
				t.Errorf("%s, %s: %+v", s, name, st)
			}
		}
		if odd.bytes != 0 || short.freed != 2 || beyond.freed != 2 || none.freed != 0 {
			t.Errorf("%s: %d bytes, %d, %d and %d freed", s, odd.bytes, short.freed, beyond.freed, none.freed)
		}
	}
}

// While one goroutine releases, others are in With: they see their bytes or
// ErrReleased, and the block is recycled once.
func TestWithWhileAnotherReleases(t *testing.T) {
	for _, c := range []Config{{}, {Strategy: "slab", CacheBytes: -1}} {
		p := openPool(t, "mmap", c)
		for round := range 300 {
			b := mustGet(t, p, 1000)
			mark := byte(round)
			paint(b.Bytes(), mark)
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					err := b.With(func(m []byte) {
						for _, v := range m {
							if v != mark {
								t.Errorf("round %d: byte %d", round, v)
								return
							}
						}
					})
					if err != nil && err != ErrReleased {
						t.Error(err)
					}
				})
			}
			all.Go(func() {
				if err := b.Release(); err != nil {
					t.Error(err)
				}
			})
			all.Wait()
			paint(mustGetBytes(t, p, 1000), mark+1)
		}
		checkQuiet(t, p)
	}
}

// mustGetBytes gets, and releases, so that a block kept by mistake is overwritten.
func mustGetBytes(t *testing.T, p *Pool, n int) []byte {
	b := mustGet(t, p, n)
	defer b.Release()
	return b.Bytes()
}

// What the ledger counts is what its upstream sees.
func TestLedgerCountsWhatItsUpstreamSees(t *testing.T) {
	eachSubject(t, func(t *testing.T, _ int, open func(*testing.T, *pages) subject) {
		up := &pages{fake: fake{host: true}}
		s := open(t, up)
		r := newScript(t, 8, s, up)
		for range 300 {
			r.step()
		}
		r.end()
	})
	up := &pages{}
	p, err := Open(up, Config{Strategy: "slab", CacheBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	b := mustGet(t, p, 10*page)
	peak := up.bytes
	b.Release()
	p.FreeHeld()
	if s := p.Stats(); s.UpstreamAllocs != int64(up.calls) || s.UpstreamFrees != 1 || s.PeakManagedBytes != peak || s.ManagedBytes != 0 {
		t.Errorf("%+v after %d calls, peak %d", s, up.calls, peak)
	}
}
