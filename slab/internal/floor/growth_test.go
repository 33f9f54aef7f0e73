package floor

import (
	"math/rand/v2"
	"slices"
	"testing"
)

const mib = 1 << 20

// grown has a new Growth hear of n collections after which out(i) bytes are out. It returns after which of them it told.
func grown(n int, out func(i int) int64) (told []int) {
	g := new(Growth)
	for i := 1; i <= n; i++ {
		if least, _, _ := g.Collected(out(i)); least > 0 {
			told = append(told, i)
		}
	}
	return told
}

// rowsFrom counts the rows from first on that have passed at collection i, up to most.
func rowsFrom(i, first, most int) int64 { return int64(min(max(0, i/perRow-first), most)) }

// A pool that loses as much after each collection is noticed, however slow that is, and however much is out for good.
func TestALeakIsNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		out    func(i int) int64
		within int
	}{
		"from nothing":          {func(i int) int64 { return int64(i) * mib / 64 }, 34 * perRow},
		"beside 64 MiB":         {func(i int) int64 { return 64*mib + int64(i)*mib }, 34 * perRow},
		"slowly":                {func(i int) int64 { return 64*mib + int64(i)*mib/16 }, 500 * perRow},
		"after a long time":     {func(i int) int64 { return 16*mib + max(0, int64(i-4000))*mib/4 }, 4000 + 64*perRow},
		"with much ado besides": {func(i int) int64 { return int64(i)*mib/64 + rand.Int64N(64)*mib*int64(i%perRow) }, 40 * perRow},
	} {
		if told := grown(c.within, c.out); len(told) == 0 {
			t.Errorf("%s: not within %d collections", name, c.within)
		} else if told[0] < manyRows*perRow {
			t.Errorf("%s: after %d collections", name, told[0])
		}
	}
}

// It tells how high the floor is, how high it stood still, and how many collections ago that was. After that it begins
// anew, from there.
func TestAGrowthHasNumbers(t *testing.T) {
	g := new(Growth)
	type growth struct {
		row         int
		least, was  int64
		collections int
	}
	var told []growth
	for i := range 76 * perRow {
		row := i / perRow
		out := 8*mib + max(0, int64(row-10))*2*mib // stands still until row 10
		if row > 10+manyRows {
			out *= 8
		}
		if least, was, collections := g.Collected(out); least > 0 {
			told = append(told, growth{row, least, was, collections})
		}
	}
	want := []growth{
		{10 + manyRows, 72 * mib, 8 * mib, manyRows * perRow},
		{10 + 2*manyRows, 8 * 136 * mib, 72 * mib, manyRows * perRow},
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}

// What is filled and then kept, what swings, shrinks or is small is no leak.
func TestWhatIsNoLeak(t *testing.T) {
	for name, out := range map[string]func(i int) int64{
		"nothing":            func(int) int64 { return 0 },
		"much for good":      func(int) int64 { return 1 << 40 },
		"filled once":        func(i int) int64 { return min(int64(i), 100) * mib },
		"filled slowly":      func(i int) int64 { return min(int64(i), 200) * mib },
		"filled, a trickle":  func(i int) int64 { return min(int64(i), 200)*mib + int64(i) },
		"filled, later more": func(i int) int64 { return min(int64(i), 200)*mib + int64(i/1000)*mib },
		"filled to a limit":  func(i int) int64 { return 100*mib - 100*mib/int64(i+1) },
		"twice as much":      func(i int) int64 { return 10*mib + int64(i/4000)*10*mib },
		"up and down":        func(i int) int64 { return int64(i%200) * mib },
		"up and half down":   func(i int) int64 { return 100*mib + int64(i%300)*mib },
		"at random":          func(int) int64 { return mib + rand.Int64N(100*mib) },
		"shrinking":          func(i int) int64 { return 1<<40 - int64(i)*mib },
		"less than a MiB":    func(i int) int64 { return min(int64(i)*1000, mib-1) },
		"in the first half":  func(i int) int64 { return (min(int64(i)/perRow, 16)*64 + int64(i)/(33*perRow)*8) * mib },
		"bytes, then filled": func(i int) int64 { return min(int64(i), 5) + min(max(0, int64(i)-4000), 100)*mib },
		"thrice, in steps":   func(i int) int64 { return (10 + rowsFrom(i, 20, 10) + rowsFrom(i, 200, 25)) * mib },
		"between two bursts": func(i int) int64 { return int64(i%perRow) * int64(i) * mib },
	} {
		if told := grown(10_000, out); told != nil {
			t.Errorf("%s: told after %v collections", name, told)
		}
	}
}
