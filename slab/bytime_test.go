package slab

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// oneBurst has buffers of 1 to 8 MiB out, some 180 MiB, and releases them.
func oneBurst(t *testing.T, p *Pool) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var out []PooledBuffer
	for range 40 {
		out = append(out, mustGet(t, p, 1<<20+r.IntN(7<<20)))
	}
	releaseAll(t, out)
}

// smallGets has goroutines get and release small buffers all the time, for d of the bubble's clock. Eight of them touch
// less than 7 MB in 20 s, even if each buffer lies elsewhere.
func smallGets(t *testing.T, p *Pool, goroutines int, d time.Duration) {
	t.Helper()
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 2))
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(400 * time.Millisecond) {
				mustRelease(t, mustGet(t, p, 512+r.IntN(32<<10-512)))
			}
		})
	}
	all.Wait()
}

// inABubble opens a pool by a line. Its clock is the bubble's.
func inABubble(t *testing.T, line string, use func(t *testing.T, p *Pool)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := openLine(t, line)
		use(t, p)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

// What a burst has left goes back while the pool is busy with small buffers, by default, on every device and with
// every strategy (kubernetes/kubernetes#141299).
func TestABurstGoesBackWhileThePoolIsBusy(t *testing.T) {
	t.Parallel() // with pools of its own
	for _, line := range []string{"", ",strategy=bitlog", ",strategy=sizeclass", ",strategy=slab", ",trim_after=5s"} {
		for _, dev := range []string{"heap", "mmap", "sim:1GiB"} {
			for _, goroutines := range []int{1, 8} {
				inABubble(t, "device="+dev+line, func(t *testing.T, p *Pool) {
					oneBurst(t, p)
					if held := p.Stats().HeldBytes; held < 100<<20 {
						t.Errorf("%s%s: %d bytes are held after a burst", dev, line, held)
					}
					smallGets(t, p, goroutines, 30*time.Second)
					if held := p.Stats().HeldBytes; held > 8<<20 {
						t.Errorf("%s%s, %d goroutines: %d bytes are held 30 s later", dev, line, goroutines, held)
					}
				})
			}
		}
	}
}

// idle=keep says that nothing goes, and so does trim_after=none.
func TestABurstStaysWhereTheLineSaysSo(t *testing.T) {
	for _, line := range []string{"idle=keep", "device=mmap,idle=keep", "device=mmap,trim_after=none", "device=sim:1GiB,idle=keep"} {
		inABubble(t, line, func(t *testing.T, p *Pool) {
			oneBurst(t, p)
			before := p.Stats()
			smallGets(t, p, 1, 30*time.Second)
			time.Sleep(time.Hour) // of the bubble's clock
			if s := p.Stats(); s.ManagedBytes < before.ManagedBytes || s.UpstreamFrees != before.UpstreamFrees || s.Trims != 0 {
				t.Errorf("%s: %d bytes are kept of %d", line, s.ManagedBytes, before.ManagedBytes)
			}
		})
	}
}

// Frames of 6.2 MB, two at a time, beside small ones that are kept for a second, leave nothing once they have ended
// (kenn-io/agentsview#1587).
func TestFramesLeaveNothing(t *testing.T) {
	for _, line := range []string{"", "device=mmap", "device=mmap,trim_after=1s"} {
		inABubble(t, line, func(t *testing.T, p *Pool) {
			var all sync.WaitGroup
			for g := range 20 {
				all.Go(func() {
					r := rand.New(rand.NewPCG(uint64(g), 3))
					for range 10 {
						a, b, kept := mustGet(t, p, 6_200_000), mustGet(t, p, 6_200_000), mustGet(t, p, 50_000+r.IntN(150_000))
						time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
						releaseAll(t, []PooledBuffer{a, b})
						time.Sleep(time.Second)
						mustRelease(t, kept)
					}
				})
			}
			all.Wait()
			time.Sleep(unusedFor + 2*unusedFor/4)
			if n := p.Stats().ManagedBytes; n != 0 {
				t.Errorf("%q: %d bytes are kept", line, n)
			}
		})
	}
}

// Of a steady load of several sizes nothing goes back, also where it comes but each nine seconds. On one processor, as
// each has caches of its own.
func TestASteadyLoadKeepsItsMemory(t *testing.T) {
	t.Parallel() // with pools of its own
	for _, dev := range []string{"heap", "mmap", "sim:1GiB", "virtual"} {
		for _, strategy := range []string{"", ",strategy=exact", ",strategy=bitlog", ",strategy=sizeclass", ",strategy=bestfit", ",strategy=slab"} {
			for _, period := range []time.Duration{time.Second / 2, 9 * time.Second} {
				p := openLine(t, "device="+dev+strategy)
				m, err := reopen(p, 1)
				if err != nil {
					t.Fatal(err)
				}
				var before Stats
				for now := time.Duration(0); now < 20*max(period, 4*time.Second); now += period {
					var out []PooledBuffer
					for size := 1000; size < 4<<20; size = size*3/2 + 77 {
						out = append(out, mustGet(t, p, size), mustGet(t, p, size))
					}
					releaseAll(t, out)
					if now < 45*time.Second { // a step of growth that was too large goes
						before = p.Stats()
					}
					m.Advance(int64(now))
				}
				s := p.Stats()
				if s.TrimmedBytes != before.TrimmedBytes || s.UpstreamAllocs != before.UpstreamAllocs || s.ManagedBytes != before.ManagedBytes || s.Trims < 8 {
					t.Errorf("%s%s each %v: was %+v\nis %+v", dev, strategy, period, before, s)
				}
			}
		}
	}
}

// A load whose sizes are random loses little that it takes again: a block cache less than a tenth of its memory in a
// minute, temporaries less than a thousandth of what they get. Without a bound on what is idle it would be all of it.
func TestARandomLoadLosesLittle(t *testing.T) {
	t.Parallel() // with pools of its own
	atLength(t)
	const live, each = 32 << 20, 100 * time.Millisecond
	loads := map[string]func(t *testing.T, p *Pool, r *rand.Rand, out *[]PooledBuffer){
		"a block cache": func(t *testing.T, p *Pool, r *rand.Rand, out *[]PooledBuffer) {
			for range len(*out) / 100 {
				mustRelease(t, takeAt(out, r.IntN(len(*out))))
			}
			for p.Stats().ActiveBytes < live {
				*out = append(*out, mustGet(t, p, 4<<10+r.IntN(60<<10)))
			}
		},
		"temporaries": func(t *testing.T, p *Pool, r *rand.Rand, _ *[]PooledBuffer) {
			for range 20 {
				n := 50 + r.IntN(350)
				releaseAll(t, []PooledBuffer{mustGet(t, p, 8*n*n), mustGet(t, p, 8*n*n), mustGet(t, p, 8*n*n)})
			}
		},
	}
	for _, line := range []string{"device=heap", "device=mmap", "device=sim:1GiB"} {
		for name, load := range loads {
			p := openLine(t, line)
			m, err := reopen(p, 1)
			if err != nil {
				t.Fatal(err)
			}
			r, out := rand.New(rand.NewPCG(1, 2)), []PooledBuffer(nil)
			for now := each; now <= time.Minute/2; now += each {
				load(t, p, r, &out)
				m.Advance(int64(now))
			}
			s := p.Stats()
			t.Logf("%s, %s: %d of %d bytes that were got went back, %d are managed", line, name, s.TrimmedBytes, s.AllocatedBytes, s.ManagedBytes)
			if most := max(s.ActiveBytes/10, s.AllocatedBytes/1000); s.TrimmedBytes > most || s.Trims < 10 {
				t.Errorf("%s, %s: more than %d", line, name, most)
			}
			releaseAll(t, out)
		}
	}
}

// With max_held=25% what is held beyond a quarter of the most that was active in the last minute goes back at a tick
// of the clock, whatever is used meanwhile; the most that was ever active is as before.
func TestHeldShare(t *testing.T) {
	for _, line := range []string{"idle=keep", "device=mmap,idle=keep", "device=mmap,strategy=sizeclass,idle=keep", "device=sim:1GiB,idle=keep,cache_bytes=0", "device=mmap,trim_after=1h"} {
		inABubble(t, line+",max_held=25%", func(t *testing.T, p *Pool) {
			oneBurst(t, p)
			peak := p.Stats().PeakActiveBytes
			check := func(when string, least, most int64) {
				t.Helper()
				if s := p.Stats(); s.HeldBytes < least || s.HeldBytes > most || s.PeakActiveBytes != peak {
					t.Errorf("%s %s: %d bytes are held, want %d to %d; the peak was %d, is %d", line, when, s.HeldBytes, least, most, peak, s.PeakActiveBytes)
				}
			}
			check("at once", peak/2, 2*peak)
			smallGets(t, p, 1, 6*time.Second)
			check("after a tick", peak/8, peak/4+1<<20)
			smallGets(t, p, 1, 50*time.Second)
			check("within the minute", peak/8, peak/4+1<<20)
			smallGets(t, p, 1, 20*time.Second)
			check("after the minute", 0, 2<<20)
		})
	}
}

// What goes back beyond the share counts as trimmed, and only if a byte is beyond it.
func TestWhatGoesBackForAHeldShareIsTrimmed(t *testing.T) {
	p := openPool(t, "heap", Config{Strategy: "exact", HeldShare: 0.5})
	stays := mustGet(t, p, 500)
	mustRelease(t, mustGet(t, p, 1000))
	for _, c := range []struct{ most, held, trims, trimmed int64 }{{4000, 1000, 0, 0}, {2000, 1000, 0, 0}, {1998, 0, 1, 1000}} {
		p.pool.keepShare(c.most)
		if s := p.Stats(); s.HeldBytes != c.held || s.Trims != c.trims || s.TrimmedBytes != c.trimmed {
			t.Errorf("half of %d: %d held, %d bytes in %d trims, want %+v", c.most, s.HeldBytes, s.TrimmedBytes, s.Trims, c)
		}
	}
	mustRelease(t, stays)
}

// max_held is a size or a share. A Config that has both, or a share of more than all, is faulty.
func TestHeldShareIsMaxHeld(t *testing.T) {
	for c, want := range map[Config]string{
		{HeldShare: 1.5}:                     "up to 100%",
		{HeldShare: -0.5}:                    "up to 100%",
		{HeldShare: 0.5, MaxHeld: 1 << 20}:   "it is 1MiB as well",
		{HeldShare: 0.5, Strategy: "direct"}: "keeps nothing",
	} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if text := (Config{HeldShare: 0.25}).Explain(); !strings.Contains(text, "max_held         25%") {
		t.Error(text)
	}
}

// Where one of the two times is given the other is as long.
func TestOneTimeForBoth(t *testing.T) {
	for line, want := range map[string]time.Duration{
		"": unusedFor, "device=mmap": unusedFor, "idle=1m": time.Minute, "device=cuda:0,trim_after=5s": 5 * time.Second, "idle=keep": -1, "trim_after=none": -1,
	} {
		c, err := ParseConfig(line)
		if full := c.withDefaults(); err != nil || full.TrimAfter != want || full.Idle != want {
			t.Errorf("%s: %v and %v, %v", line, full.TrimAfter, full.Idle, err)
		}
	}
}
