package growpool

import (
	"math"
	"testing"

	"github.com/bufslab/bufslab/slab"
)

func TestKeysOfEveryKind(t *testing.T) {
	below := openSlab(t, "")
	type pair struct {
		a string
		b int8
	}
	areFound(t, below, 300, func(i int) int { return i - 100 })
	areFound(t, below, 150, func(i int) pair { return pair{"x", int8(i / 2)} })
	areFound(t, below, 300, func(i int) any { return [2]any{i, "k"} })
	areFound(t, below, 300, func(i int) float32 { return float32(i) })
	areFound(t, below, 299, func(i int) float64 { return math.Copysign(float64(i/2*2), float64(-i%2)) }) // 0 is -0
	areFound(t, below, 300, func(i int) uint64 { return uint64(i) << 40 })
	areFound(t, below, 1, func(i int) struct{} { return struct{}{} })
}

func areFound[K comparable](t *testing.T, below *slab.Pool, want int, key func(i int) K) {
	t.Helper()
	p := New[K](below, Config{})
	for i := range 600 {
		if _, err := Get[byte](p, key(i%300), 9); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(p.Stats()); n != want || p.table.live != want {
		t.Errorf("%d keys and %d entries, want %d", n, p.table.live, want)
	}
}

// Keys that leave make room for others: the table does not grow for ever, and
// every search ends.
func TestTableOfKeysThatComeAndGo(t *testing.T) {
	var x table[int]
	x.init()
	for i := range 100_000 {
		e := x.add(i)
		if x.find(i) != e || x.add(i) != e || i >= 10 && x.find(i-10) != nil {
			t.Fatalf("key %d", i)
		}
		if i >= 9 {
			x.remove(x.find(i - 9))
		}
	}
	if n := len(x.slots.Load().at); n != leastSlots || x.live != 9 {
		t.Errorf("%d slots for %d keys", n, x.live)
	}
}

// The table is at most half full, and rebuilt once a doubling of its keys at most.
func TestATableDoubles(t *testing.T) {
	var x table[int]
	x.init()
	last, rebuilt := x.slots.Load(), 0
	for i := range 1 << 14 {
		x.add(i)
		s := x.slots.Load()
		if 2*x.used > len(s.at) || x.used != i+1 || x.live != i+1 {
			t.Fatalf("%d of %d slots are used by %d keys", x.used, len(s.at), i+1)
		}
		if s != last {
			if len(s.at)/2 < 2*(i+1) {
				t.Errorf("rebuilt to %d slots for %d keys: there is not room for twice as many", len(s.at), i+1)
			}
			rebuilt++
			last = s
		}
	}
	if rebuilt > 9 { // at 32 keys, 64 ...
		t.Errorf("rebuilt %d times", rebuilt)
	}
}

// Different numbers have different hashes, whatever the secrets of a table are.
func TestNumbersHaveHashes(t *testing.T) {
	for range 30 {
		var x table[int]
		x.init()
		hashes := map[uint64]bool{}
		for i := range 100 {
			hashes[x.hash(i)] = true
		}
		if len(hashes) < 90 {
			t.Fatalf("%d hashes of 100 numbers", len(hashes))
		}
	}
}

// A loop over all entries begins where the last one stopped, and comes to each once. So loops that stop early come to
// all in turn.
func TestALoopGoesOnWhereTheLastStopped(t *testing.T) {
	var x table[int]
	x.init()
	const keys, steps = 100, 7
	for i := range keys {
		x.add(i)
	}
	seen := map[int]bool{}
	last := -1
	for range keys / (steps - 1) {
		n := 0
		for e := range x.all() {
			if n++; n == 1 && last >= 0 && e.key != last {
				t.Fatalf("begins with %d, not with %d", e.key, last)
			}
			seen[e.key] = true
			if last = e.key; n == steps {
				break
			}
		}
	}
	if len(seen) < keys*9/10 {
		t.Errorf("%d of %d keys", len(seen), keys)
	}
	clear(seen)
	for e := range x.all() {
		if seen[e.key] {
			t.Errorf("%d comes twice", e.key)
		}
		seen[e.key] = true
	}
	if len(seen) != keys {
		t.Errorf("%d of %d keys", len(seen), keys)
	}
}

// The cache counts two keys as one where twelve low bits of their numbers are equal. Of 300
// keys that a scan asks for, 2.6 are one with a key in use, and 12 or more in one pool of
// fifty thousand. The numbers that say where a key stands in the table do not do for that.
func TestTheCacheTellsKeysApart(t *testing.T) {
	const pools, few = 1000, 4
	number := func(x *table[int64], key int64) uint64 { return x.id(key) }
	if n := poolsOfMixedKeys(pools, number); n > few {
		t.Errorf("keys are mixed up in %d of %d pools", n, pools)
	}
	if n := poolsOfMixedKeys(pools, (*table[int64]).hash); n <= few {
		t.Errorf("the control: hash mixes keys up in %d of %d pools alone", n, pools)
	}
}

func poolsOfMixedKeys(pools int, number func(*table[int64], int64) uint64) (mixed int) {
	const inUse, scanned, row = 36, 300, 1 << 12
	for range pools {
		var x table[int64]
		x.init()
		used, same := map[uint64]bool{}, 0
		for key := range int64(inUse + scanned) {
			n := number(&x, key) % row
			if key < inUse {
				used[n] = true
			} else if used[n] {
				same++
			}
		}
		if same >= 12 {
			mixed++
		}
	}
	return mixed
}

// An entry has the number by which the cache knows its key.
func TestEntriesHaveTheirKeysNumber(t *testing.T) {
	var x table[int]
	x.init()
	for i := range 100 {
		if e := x.add(i); e.id != x.id(i) {
			t.Fatalf("key %d", i)
		}
	}
}

// The key of a grave is the zero key: it must not be found there.
func TestTheZeroKeyIsNotFoundInGraves(t *testing.T) {
	var x table[int64]
	x.init()
	x.secret = [2]uint64{} // all keys stand together
	x.add(1)
	x.add(2)
	x.remove(x.find(1))
	if x.find(0) != nil || x.find(1) != nil || x.find(2) == nil {
		t.Error("found in a grave, or not behind one")
	}
	if e := x.add(0); x.find(0) != e || e.key != 0 {
		t.Error("the zero key is lost")
	}
}
