package growpool

import (
	"runtime"
	"strconv"
	"testing"
)

// Keys that are used again and again keep their buffers while a scan goes by, which asks
// for more keys than there is room for once each. It is so for Get and for Acquire: a
// lease takes room from keys that were used least. The cache counts uses on a goroutine
// of its own, and drops those that come faster; most of the keys survive even if it
// never had a turn before the scan. Not all: the cache counts one scanned key of a hundred
// as if it were one of these, and it may take that one's place.
func TestHotKeysSurviveAScan(t *testing.T) {
	if raceEnabled {
		t.Skip("the cache collects uses in a sync.Pool, which drops them at random under the race detector")
	}
	const hot, size = 36, 100_000
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, c := range []struct {
		name         string
		lease, yield bool
		least        int
	}{
		{"Get", false, true, hot},
		{"Acquire", true, true, hot},
		{"Get without a pause", false, false, hot * 3 / 4},
		{"Acquire without a pause", true, false, hot * 3 / 4},
	} {
		p := New[int](openSlab(t, "device=mmap"), Config{MaxBytes: 40 * size})
		request := func(key int) {
			if c.lease {
				l, err := Acquire[byte](t.Context(), p, key, size)
				if err != nil {
					t.Fatal(err)
				}
				release(t, l)
			} else if _, err := Get[byte](p, key, size); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 100 * hot {
			request(i % hot)
			if c.yield {
				runtime.Gosched()
			}
		}
		for key := range 300 {
			request(hot + key)
		}
		kept := 0
		for key := range p.Stats() {
			if key < hot {
				kept++
			}
		}
		if kept < c.least {
			t.Errorf("%s: %d of %d keys keep their buffers", c.name, kept, hot)
		}
		p.Close()
	}
}

// A lease that the cache does not take evicts the key with the fewest requests.
func TestALeaseTakesTheLeastUsed(t *testing.T) {
	p := bounded(t, 1000)
	f := &fickle{}
	p.policy.use(f)
	for key, times := range map[string]int{"a": 5, "b": 2, "c": 4} {
		for range times {
			release(t, acquire[byte](t, p, key, 300))
		}
	}
	f.drop = 1
	release(t, acquire[byte](t, p, "d", 300))
	if s := p.Stats(); len(s) != 2 || s["a"].Hits != 4 || s["c"].Hits != 3 {
		t.Errorf("%+v", s)
	}
}

// Of so many idle buffers as one look goes through the least used goes, also if it comes last. One look
// goes through no more.
func TestTheLastCandidateIsLookedAt(t *testing.T) {
	for n, want := range map[int]bool{candidates: false, candidates + 1: true} {
		p := bounded(t, 1<<20)
		f := &fickle{}
		p.policy.use(f)
		keys := make([]string, n)
		for i := range keys {
			keys[i] = strconv.Itoa(i)
			release(t, acquire[byte](t, p, keys[i], 300))
		}
		p.budget.max, _ = p.budget.usage() // no room for one more
		least := ""
		for e := range p.table.all() { // which, not stopped, begins the next time where it began now
			least = e.key
		}
		for _, key := range keys {
			if key != least {
				release(t, acquire[byte](t, p, key, 300))
			}
		}
		f.drop = 1
		release(t, acquire[byte](t, p, "one more", 300))
		s := p.Stats()
		if _, kept := s[least]; kept != want || len(s) != n-1 {
			t.Errorf("of %d keys %d are left, the least used among them: %t", n, len(s), kept)
		}
	}
}

// Requests that made the buffer larger count as well as hits.
func TestALeaseKeepsWhatGrowsOften(t *testing.T) {
	p := bounded(t, 1000)
	f := &fickle{}
	p.policy.use(f)
	for i := range 9 {
		release(t, acquire[byte](t, p, "grows", 300+i))
	}
	for range 3 {
		release(t, acquire[byte](t, p, "steady", 300))
	}
	f.drop = 1
	release(t, acquire[byte](t, p, "d", 500))
	if s := p.Stats(); len(s) != 1 || s["grows"].Grows != 8 {
		t.Errorf("%+v", s)
	}
}
