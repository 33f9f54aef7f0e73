package trace

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Watch is called before the first event, then where it wants to be, the end included, and
// sees the pool as it is then.
func TestWatchLooksWhereItWantsTo(t *testing.T) {
	tr := read(t, "op,id,size,time_ns\na,0,100,5\na,1,50,7\nf,0,,9\na,2,1,11\nf,1,,12\nf,2,,20\n")
	for _, c := range []struct {
		next []int
		want []int64 // events, time and live bytes of each call
	}{
		{[]int{1, 2, 3, 4, 5, 6, 7}, []int64{0, 0, 0, 1, 5, 100, 2, 7, 150, 3, 9, 50, 4, 11, 51, 5, 12, 1, 6, 20, 0}},
		{[]int{2, 6, 0}, []int64{0, 0, 0, 2, 7, 150, 6, 20, 0}},
		{[]int{4, 4}, []int64{0, 0, 0, 4, 11, 51}},
		{[]int{0}, []int64{0, 0, 0}},
		{[]int{99}, []int64{0, 0, 0}},
	} {
		p := open(t, "device=virtual,strategy=slab")
		var got []int64
		next := c.next
		watch := func(events int, timeNS int64) int {
			got = append(got, int64(events), timeNS, p.Stats().ActiveBytes)
			n := next[0]
			next = next[1:]
			return n
		}
		if _, err := (Replayer{Watch: watch}).Run(tr, p); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v; %v", c.next, got, c.want, err)
		}
	}
}

// A replay that is watched gives the same Result: with times, threads, sizes beyond 2 GiB,
// chunk by chunk and as a stream.
func TestWatchingChangesNothing(t *testing.T) {
	text := program(20_000)
	if strconv.IntSize == 64 {
		text += "a,9000000,3000000000,100,1\na,9000001,5000000000,101,2\nf,9000000,,102,3\nf,9000001,,102,4\n"
	}
	tr := read(t, text)
	for _, line := range []string{"device=virtual,strategy=slab,trim_after=1s", "device=virtual,strategy=exact,idle=200ms"} {
		want, err := Replayer{Processors: 3}.Run(tr, open(t, line))
		if err != nil {
			t.Fatal(err)
		}
		rng, p := rand.New(rand.NewPCG(1, 2)), open(t, line)
		o := Replayer{Processors: 3, Watch: func(events int, _ int64) int {
			p.Stats()
			return events + 1 + rng.IntN(1000)
		}}
		run, err := o.Run(tr, p)
		stream, streamErr := o.Stream(NewReader(strings.NewReader(text), "t.csv"), p)
		want.NsPerOp, run.NsPerOp, stream.NsPerOp = 0, 0, 0
		if err != nil || streamErr != nil || run != want || stream != want {
			t.Errorf("%s: %v, %v\n%+v\n%+v, want\n%+v", line, err, streamErr, run, stream, want)
		}
	}
}

// An event that fails is named by its number in the trace, watched or not.
func TestWatchKeepsTheNumberOfAFailure(t *testing.T) {
	o := Replayer{Watch: func(events int, _ int64) int { return events + 2 }}
	_, err := o.Run(read(t, "a,0,1000\na,1,10\na,2,5000\n"), open(t, "device=virtual:2000,strategy=direct"))
	if err == nil || !strings.Contains(err.Error(), "op 3 of 3") {
		t.Error(err)
	}
}
