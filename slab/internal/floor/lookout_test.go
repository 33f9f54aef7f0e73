package floor

import "testing"

// hear has l hear of n collections after which out bytes are active, and tells it what each look has found. It returns
// after which of them there was one.
func hear(l *Lookout, n int, out func(i int) int64, found int64) (looks []int) {
	for i := 1; i <= n; i++ {
		if old, due := l.Collected(out(i)); due {
			looks = append(looks, i)
			l.Looked(old, found)
		}
	}
	return looks
}

func always(out int64) func(int) int64 { return func(int) int64 { return out } }

func wantLooks(t *testing.T, what string, got []int, want ...int) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: looks after %v, not %v", what, got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s: looks after %v, not %v", what, got, want)
		}
	}
}

// Looks that find nothing, or less than an eighth, are twice as far apart each time; one that finds much is followed
// by the next one soon.
func TestLooksInVainGetRare(t *testing.T) {
	const least = leastRows * perRow
	wantLooks(t, "nothing found", hear(new(Lookout), 31*least, always(1000), 0), least, 3*least, 7*least, 15*least, 31*least)
	wantLooks(t, "little found", hear(new(Lookout), 7*least, always(1000), 124), least, 3*least, 7*least)
	wantLooks(t, "an eighth found", hear(new(Lookout), 3*least, always(1000), 125), least, 2*least, 3*least)

	l := new(Lookout)
	hear(l, 15*least, always(1000), 0)
	wantLooks(t, "found at last", hear(l, 18*least, always(1000), 500), 16*least, 17*least, 18*least)
}

// What is out at some collections only is not old, whichever these are. The next row begins anew.
func TestTheLeastOfARowIsOld(t *testing.T) {
	l := new(Lookout)
	for at := range perRow {
		for i := range perRow {
			out := 1000 + int64(i)
			if i == at {
				out = 900 - int64(at%2)*600 // less and more than in the row before
			}
			want := int64(0) // before its end a row tells nothing
			if i == perRow-1 {
				want = 900 - int64(at%2)*600
			}
			if old, _ := l.Collected(out); old != want {
				t.Errorf("least at %d: after %d collections %d bytes are old, not %d", at, i+1, old, want)
			}
		}
	}
}

// Twice as much out for good makes a look due before its time, and again twice as much.
func TestTwiceAsMuchIsALookBeforeItsTime(t *testing.T) {
	l := new(Lookout)
	hear(l, 15*leastRows*perRow, always(1000), 0) // the next one would come after 32 rows more
	wantLooks(t, "2000 out", hear(l, leastRows*perRow, always(2000), 0))
	wantLooks(t, "2001 out", hear(l, perRow, always(2001), 0), perRow)
	wantLooks(t, "still 2001 out", hear(l, 5*perRow, always(2001), 0))
	wantLooks(t, "5000 out", hear(l, perRow, always(5000), 0), perRow)
	wantLooks(t, "much more out soon after", hear(l, 2*perRow, always(20_000), 0), 2*perRow)

	l = new(Lookout)
	hear(l, 15*leastRows*perRow, always(1000), 100) // the looks leave 900
	wantLooks(t, "1800 out", hear(l, leastRows*perRow, always(1800), 0))
	wantLooks(t, "1801 out", hear(l, perRow, always(1801), 0), perRow)
}
