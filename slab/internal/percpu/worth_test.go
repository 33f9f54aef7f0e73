package percpu

import (
	"cmp"
	"testing"
	"time"
)

// asking opens the wants of one class of blocks of 1<<log bytes, whose time is now.
func asking(t *testing.T, log int, miss time.Duration, now *int64) (w *wants, class int) {
	s := oneCPU(t, Options{Largest: 1 << log, Bytes: 1 << 30, Miss: miss})
	class = s.Class(1 << log)
	w = &s.wants
	w.now = func() int64 { return *now }
	return w, class
}

// look has the class ask in vain for lookEvery blocks that were refused, the last of them after so much time.
func (w *wants) look(class int, now *int64, after float64) {
	w.refused(class, lookEvery)
	for range lookEvery - 1 {
		w.missed(class)
	}
	*now += int64(after)
	w.missed(class)
}

// A class earns a block if it asks often enough: so often that a hit's time saves worthBytes nanoseconds a second for each
// byte, or worthOften times a second. It keeps what it has earned unless it asks farLess often.
func TestABlockIsWorthWhatItSaves(t *testing.T) {
	for _, c := range []struct {
		log  int
		miss time.Duration
	}{{6, 100}, {10, 100}, {10, 800}, {14, 100}, {10, 1}, {24, 100}, {24, 10_000}} {
		often := lookEvery * 1e9 / worthOften // nanoseconds in which a class asks lookEvery times, often enough
		if saved := lookEvery * float64(c.miss); saved*1e9/often > worthBytes*float64(int64(1)<<c.log) {
			often = saved * 1e9 / (worthBytes * float64(int64(1)<<c.log))
		}
		for after, want := range map[float64]int{.99: 1, 1.01: 0, farLess * .99: 0, farLess * 1.01: -1} {
			now := int64(1e15)
			w, class := asking(t, c.log, c.miss, &now)
			w.look(class, &now, 0)
			w.earned[class].Store(10)
			w.look(class, &now, often*after)
			if n := w.earned[class].Load(); cmp.Compare(n, 10) != want {
				t.Errorf("%d bytes, %v: 10 blocks earned, %d after %.2f of the time, want %+d", 1<<c.log, c.miss, n, after, want)
			}
		}
	}
}

// What a class has earned goes up by a block, or a share of what it has, up to the most, and down by as much to none.
func TestWhatIsEarnedGrowsByAShare(t *testing.T) {
	var now int64
	w, class := asking(t, 10, 100, &now)
	for _, c := range []struct {
		earned int32
		after  float64
		want   int32
	}{
		{0, 0, 1}, {1, 0, 2}, {earnShare, 0, earnShare + 2}, {10 * earnShare, 0, 10*earnShare + 11},
		{mostEarned - 1, 0, mostEarned}, {mostEarned, 0, mostEarned},
		{0, 1e12, 0}, {1, 1e12, 0}, {2, 1e12, 1}, {earnShare, 1e12, earnShare - 2}, {10 * earnShare, 1e12, 10*earnShare - 11},
	} {
		w.earned[class].Store(c.earned)
		if w.look(class, &now, c.after); w.earned[class].Load() != c.want {
			t.Errorf("%d earned and then %d, want %d", c.earned, w.earned[class].Load(), c.want)
		}
	}
}

// Refused blocks count once each, and no more than mostRefused. A Get beyond them is for no block.
func TestRefusedBlocksCountOnce(t *testing.T) {
	for refused, want := range map[int32]int32{0: 0, 1: 1, 40: 40, mostRefused: mostRefused, mostRefused + 1: mostRefused, 100 * mostRefused: mostRefused} {
		var now, looks int64
		w, class := asking(t, 10, 100, &now)
		w.now = func() int64 { looks++; return now }
		for range 2 { // in two parts
			w.refused(class, refused/2)
		}
		w.refused(class, refused%2)
		for range 2 * mostRefused {
			w.missed(class)
		}
		if looks != int64(want)/lookEvery || w.demands[class].missed != want%lookEvery || w.demands[class].refused != 0 {
			t.Errorf("%d refused: %d looks, and %d Gets", refused, looks, w.demands[class].missed)
		}
	}
}
