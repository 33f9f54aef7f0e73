package slab

import "testing"

// What pyopencl's own tests ask of its pools, told again for every strategy. Names are
// after theirs. Its test_mempool_2 is TestBitlogBinsHoldTheirSizes of package sizeclass;
// releases and sizes of 0 are in the model of package fuzz.

func eachSeed(t *testing.T, devices []string, f func(t *testing.T, p *Pool, strategy string)) {
	for _, dev := range devices {
		for _, s := range Strategies() {
			t.Run(dev+","+s, func(t *testing.T) { f(t, openPool(t, dev, Config{Strategy: s}), s) })
		}
	}
}

// test_mempool: ten blocks are live at a time, a hundred in all.
func TestSeedMempool(t *testing.T) {
	eachSeed(t, []string{"virtual", "virtual:fixed", "sim"}, func(t *testing.T, p *Pool, strategy string) {
		var window []PooledBuffer
		for _, e := range []int{6, 7} {
			before := p.Stats().UpstreamAllocs
			for range 100 {
				window = append(window, mustGet(t, p, 1<<e))
				if len(window) > 10 {
					mustRelease(t, window[0])
					window = window[1:]
				}
			}
			if n := p.Stats().UpstreamAllocs - before; n > 11 && strategy != "direct" {
				t.Errorf("%d calls upstream for 100 blocks of %d bytes", n, 1<<e)
			}
		}
		releaseAll(t, window)
		p.StopHolding()
		checkNothing(t, p)
		free, total, err := deviceOf(p.pool.upstream).MemInfo()
		if err != nil || free != total {
			t.Errorf("%d of %d bytes free, %v", free, total, err)
		}
	})
}

// test_mempool_32bit_issues: sizes about the powers of two from 1 to 16 GiB.
func TestSeedMempool32bitIssues(t *testing.T) {
	eachSeed(t, []string{"virtual", "virtual:fixed"}, func(t *testing.T, p *Pool, _ string) {
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
				mustRelease(t, b)
			}
		}
		checkNoneOut(t, p)
		p.StopHolding()
		checkNothing(t, p)
	})
}
