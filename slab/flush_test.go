package slab

import (
	"math/bits"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/bufslab/bufslab/internal/gcwatch"
)

// A burst takes buffers and gives them back in another order, all but those that it forgets: one in share, or none.
func burst(t testing.TB, p *Pool, r *rand.Rand, buffers, share int) (forgotten int64) {
	list := make([]PooledBuffer, buffers)
	for i := range list {
		list[i] = mustGet(t, p, 700+r.IntN(2000))
		list[i].Bytes()[0] = 1
	}
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for _, b := range list {
		if share > 0 && r.IntN(share) == 0 {
			forgotten++
		} else if err := b.Release(); err != nil {
			t.Error(err)
		}
	}
	return forgotten
}

// aPoolInUse returns a pool whose caches have blocks beside 2,000 that were forgotten.
func aPoolInUse(t testing.TB, line string, looks bool) (p *Pool, r *rand.Rand, forgotten int64) {
	p, r = openLine(t, line+",idle=keep"), rand.New(rand.NewPCG(1, 2)) // no clock empties caches
	defer debug.SetGCPercent(debug.SetGCPercent(-1))                   // collections within bursts, where all is out, find much
	for range 40 {
		if !looks {
			p.pool.lookout.Looked(1<<60, 0) // in vain: the next one is far away
		}
	}
	for range 30 {
		burst(t, p, r, 400, 0)
	}
	for range 100 {
		forgotten += burst(t, p, r, 400, 20)
	}
	return p, r, forgotten
}

// What only caches keep alive is found in a pool in use, within some collections: 95 % of it at least, or all but what
// is too little to look for. A pool that never looks without its caches finds less in 32 collections, which is
// twice as long as the other takes.
func TestWhatOnlyCachesKeepAliveIsFound(t *testing.T) {
	for _, line := range []string{"strategy=sizeclass", "strategy=slab", "strategy=bestfit"} {
		for _, looks := range []bool{true, false} {
			if !looks && raceEnabled {
				continue // Gets are so slow there that caches keep little, and collections find nearly all
			}
			if found := findsInUse(t, line, looks); found != looks {
				t.Errorf("%s, looks: %t: found: %t", line, looks, found)
			}
		}
	}
}

// findsInUse uses a pool beside some collections, until it has found 95 % of what was forgotten or has so little out
// that it does not look.
func findsInUse(t *testing.T, line string, looks bool) bool {
	p, r, forgotten := aPoolInUse(t, line, looks)
	most := 64
	if !looks {
		most = 32
	}
	for n := range most {
		for range 10 {
			burst(t, p, r, 4, 0)
		}
		cycle()
		left, found := p.pool.activeBytes(), p.Stats().Forgotten
		if found >= forgotten*95/100 || looks && left <= gcwatch.Live()/oldShare {
			t.Logf("%s, looks: %t: %d of %d found after %d collections, %d bytes are out", line, looks, found, forgotten, n+1, left)
			return true
		}
	}
	return false
}

// A program that holds much for good loses its caches a few times: the number grows with the logarithm of that of
// collections. One that has nothing out at some of the collections never does.
func TestCachesOfAHealthyProgramAreKept(t *testing.T) {
	for _, held := range []int{1500, 0} {
		p, r := openLine(t, "strategy=slab"), rand.New(rand.NewPCG(1, 2))
		var kept []PooledBuffer
		for range held {
			kept = append(kept, mustGet(t, p, 2000))
		}
		var was, is runtime.MemStats
		runtime.ReadMemStats(&was)
		for range 80 {
			burst(t, p, r, 40, 0)
			cycle()
		}
		runtime.ReadMemStats(&is)
		most := 0
		if held > 0 {
			most = bits.Len(uint(is.NumGC-was.NumGC) / 16)
		}
		s := p.Stats()
		if t.Logf("%d held: %d of %d collections were the pool's", held, s.Collections, is.NumGC-was.NumGC); s.Collections > int64(most) || s.Forgotten > 0 {
			t.Errorf("the pool ran more than %d: %+v", most, s)
		}
		for _, b := range kept {
			b.discard()
		}
	}
}

// Off the heap, and without caches, no look is due: blocks keep nothing but themselves alive.
func TestOnlyPoolsOfTheHeapWithCachesLook(t *testing.T) {
	for line, looks := range map[string]bool{"device=heap": true, "device=heap,cache_bytes=0": false, "device=heap,strategy=exact": false, "device=mmap": false} {
		p := openLine(t, line)
		b := mustGet(t, p, 8<<20)
		for range 24 {
			p.pool.lookWithoutCaches()
		}
		if n := p.Stats().Collections; (n > 0) != looks {
			t.Errorf("%s: %d collections", line, n)
		}
		b.discard()
	}
}

// What the program keeps alive itself, by buffers that share their region, waits for these.
func TestNeighboursKeepWhatWasForgotten(t *testing.T) {
	for _, line := range []string{"strategy=sizeclass", "strategy=slab", "strategy=bestfit"} {
		p, r := openLine(t, line), rand.New(rand.NewPCG(1, 2))
		var kept []PooledBuffer
		for i := range 2000 {
			if b := mustGet(t, p, 3000+r.IntN(10_000)); i%10 == 0 {
				kept = append(kept, b)
			}
		}
		for range 20 {
			cycle()
		}
		if n := p.Stats().Forgotten; n > 1800/4 {
			t.Errorf("%s: %d of 1800 were found beside those that are kept", line, n)
		}
		for _, b := range kept {
			b.discard()
		}
		p.FreeHeld()
		if !collect(p, func(s Stats) bool { return s.Forgotten >= 1790 }) {
			t.Errorf("%s: %d of 1800 were found", line, p.Stats().Forgotten)
		}
	}
}
