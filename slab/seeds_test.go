package slab

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// What pyopencl's own tests ask of its pools, told again for every strategy,
// on a device without memory and on a simulated one. Names are after theirs.

func eachSeed(t *testing.T, f func(t *testing.T, dev, strategy string)) {
	for _, dev := range []string{"virtual", "virtual:fixed", "sim"} {
		for _, s := range Strategies() {
			t.Run(dev+","+s, func(t *testing.T) { f(t, dev, s) })
		}
	}
}

// test_mempool: ten blocks are live at a time, a hundred in all.
func TestSeedMempool(t *testing.T) {
	eachSeed(t, func(t *testing.T, dev, strategy string) {
		p := openPool(t, dev, Config{Strategy: strategy})
		var window []PooledBuffer
		for _, e := range []int{6, 7} {
			before := p.Stats().UpstreamAllocs
			for range 100 {
				window = append(window, mustGet(t, p, 1<<e))
				if len(window) > 10 {
					if err := window[0].Release(); err != nil {
						t.Fatal(err)
					}
					window = window[1:]
				}
			}
			if n := p.Stats().UpstreamAllocs - before; n > 11 && strategy != "direct" {
				t.Errorf("%d calls upstream for 100 blocks of %d bytes", n, 1<<e)
			}
		}
		for _, b := range window {
			b.Release()
		}
		p.StopHolding()
		if s := p.Stats(); s.HeldBlocks != 0 || s.ActiveBlocks != 0 || s.ManagedBytes != 0 {
			t.Errorf("%+v", s)
		}
		free, total, err := p.c.device.MemInfo()
		if err != nil || free != total {
			t.Errorf("%d of %d bytes free, %v", free, total, err)
		}
	})
}

// test_mempool_2: what a bin hands out holds what was asked, and is of the bin.
func TestSeedMempool2(t *testing.T) {
	const most = 1<<31 - 1
	r := rand.New(rand.NewPCG(31, 32))
	for bits := 1; bits <= 8; bits++ {
		bins := Bitlog(bits)
		for i := range 2000 {
			n := int(r.Uint32N(most) >> r.UintN(32))
			if uint64(n) > maxClass {
				continue
			}
			if i == 0 {
				n = 1 << 30
			}
			size := bins.Size(bins.Index(n))
			if size < n || uint64(size) <= maxClass && bins.Index(size) != bins.Index(n) || float64(size) > float64(n)*(1+1/float64(int(1)<<bits)) && n > 0 {
				t.Errorf("%d bits: %d bytes get %d", bits, n, size)
			}
		}
	}
}

// test_mempool_32bit_issues: sizes about the powers of two from 1 to 16 GiB.
func TestSeedMempool32bitIssues(t *testing.T) {
	for _, dev := range []string{"virtual", "virtual:fixed"} {
		for _, s := range Strategies() {
			t.Run(dev+","+s, func(t *testing.T) {
				p := openPool(t, dev, Config{Strategy: s})
				for i := 30; i < 35; i++ {
					for o := -5; o < 5; o++ {
						n := int64(1)<<i + int64(o)
						if n > int64(maxAsk) {
							continue // no int of 32 bits says so much
						}
						b := mustGet(t, p, int(n))
						if k := b.Block(); int64(k.Len) != n || k.Off < 0 || k.Region.Size()-k.Off < k.Len {
							t.Errorf("%d bytes: %+v", n, k)
						}
						if err := b.Release(); err != nil {
							t.Error(err)
						}
					}
				}
				checkQuiet(t, p)
				p.StopHolding()
				if s := p.Stats(); s.ManagedBytes != 0 {
					t.Errorf("%+v", s)
				}
			})
		}
	}
}

// test_allocator and test_zero_size_svm_allocations: nothing is a buffer, and
// can be released.
func TestSeedZeroSizeAllocations(t *testing.T) {
	eachSeed(t, func(t *testing.T, dev, strategy string) {
		p := openPool(t, dev, Config{Strategy: strategy})
		some := mustGet(t, p, 15)
		if k := some.Block(); k.Len != 15 {
			t.Errorf("15 bytes: %+v", k)
		}
		for range 3 {
			none := mustGet(t, p, 0)
			if none.Len() != 0 || none.Block() != (device.Block{}) {
				t.Errorf("no bytes: %+v", none.Block())
			}
			if err := none.Release(); err != nil {
				t.Error(err)
			}
		}
		if err := some.Release(); err != nil {
			t.Error(err)
		}
	})
}

// test_buffer_release: an explicit release works, the second one is an error.
func TestSeedBufferRelease(t *testing.T) {
	eachSeed(t, func(t *testing.T, dev, strategy string) {
		p := openPool(t, dev, Config{Strategy: strategy})
		b := mustGet(t, p, 1000)
		if err := b.Release(); err != nil {
			t.Error(err)
		}
		if err := b.Release(); !errors.Is(err, ErrReleased) {
			t.Errorf("second Release: %v", err)
		}
		if s := p.Stats(); s.ActiveBlocks != 0 || s.DoubleReleases != 1 {
			t.Errorf("%+v", s)
		}
	})
}
