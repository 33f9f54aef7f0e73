package profile

import (
	"os"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bufslab/bufslab/slab/internal/handle"
)

func TestUsageByStack(t *testing.T) {
	var p Profile
	a, b := Stack{1, 2}, Stack{3}
	p.Add(1, &a, 100, 2.5)
	p.Add(2, &a, 200, 1)
	p.Add(3, &b, 300, 1)
	p.Remove(2)
	p.Forget(3)
	p.Remove(4) // was never added
	got := map[uintptr]Usage{}
	for _, r := range p.Records() {
		got[r.Stack[0]] = r.Usage
	}
	want := map[uintptr]Usage{1: {InUse: Amount{5 * oneObject / 2, 250}}, 3: {Leaked: Amount{oneObject, 300}}}
	if len(got) != 2 || got[1] != want[1] || got[3] != want[3] {
		t.Errorf("%v, want %v", got, want)
	}
	if p.Remove(1); len(p.Records()) != 1 {
		t.Errorf("%d stacks are listed, of which one has something", len(p.Records()))
	}
}

// However many stacks there are, so many are kept, and what the others have is not lost.
func TestStacksAreBounded(t *testing.T) {
	var p Profile
	const n = 3 * MaxStacks
	for i := range handle.ID(n) {
		p.Add(i, &Stack{1 + uintptr(i)}, 10, 1)
	}
	var sum Amount
	list := p.Records()
	for _, r := range list {
		sum.Add(r.InUse)
	}
	if last := list[len(list)-1]; len(list) != MaxStacks+1 || sum.Bytes != 10*n || last.Stack != nil || last.InUse.Objects() != n-MaxStacks {
		t.Errorf("%d stacks of %d bytes, the last %v", len(list), sum.Bytes, last)
	}
	for i := range handle.ID(n) {
		p.Remove(i)
	}
	if list := p.Records(); list != nil || p.empty != len(p.sites) || len(p.live) != 0 {
		t.Errorf("%d of %d stacks are left", len(p.sites)-p.empty, len(p.sites))
	}
	p.Add(1, &Stack{n + 1}, 10, 1)
	if list := p.Records(); len(list) != 1 || list[0].Stack == nil || len(p.sites) != 1 || p.empty != 0 {
		t.Errorf("a stack that came when others were over is not kept: %v", list)
	}
}

// A stack that has something again is not over, however often: it makes no room for a new one.
func TestAStackThatComesAgainIsNotOver(t *testing.T) {
	var p Profile
	for i := range handle.ID(MaxStacks) {
		p.Add(i, &Stack{1 + uintptr(i)}, 10, 1)
	}
	for range 2 * mostEmpty {
		p.Remove(0)
		p.Add(0, &Stack{1}, 10, 1)
	}
	p.Remove(1)
	p.Add(MaxStacks, &Stack{MaxStacks + 1}, 10, 1)
	if list := p.Records(); p.empty != 1 || list[len(list)-1].Stack != nil {
		t.Errorf("%d stacks are over, and the new one is kept", p.empty)
	}
}

// Ten million stacks, one after the other, take no more memory than a few.
func TestStacksThatAreOverAreForgotten(t *testing.T) {
	var p Profile
	n := uintptr(200_000)
	if os.Getenv("BUFSLAB_STRESS") != "" {
		n = 10_000_000
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var before uint64
	for i := range n {
		p.Add(1, &Stack{1 + i}, 10, 1)
		if p.Remove(1); i == n/10 {
			before = heap()
		}
	}
	if after := heap(); after > before+MaxStacks*512 { // what is kept, and no more
		t.Errorf("%d bytes became %d", before, after)
	}
	runtime.KeepAlive(&p)
}

// Frames that are hidden are left out until one is not, and a stack is never empty.
func TestHiddenFrames(t *testing.T) {
	var stack Stack
	runtime.Callers(1, stack[:])
	r := Record{Stack: stack.counters()}
	all := r.Frames(func(runtime.Frame) bool { return false })
	some := r.Frames(func(f runtime.Frame) bool { return f.Function == all[0].Function })
	last := r.Frames(func(runtime.Frame) bool { return true })
	if r := r.Frames(func(f runtime.Frame) bool { return f.Function == all[1].Function }); len(r) != len(all) {
		t.Errorf("%d of %d frames, where one within them is hidden", len(r), len(all))
	}
	if len(all) < 3 || len(some) != len(all)-1 || some[0] != all[1] || len(last) != 1 || last[0] != all[len(all)-1] {
		t.Errorf("%v\n%v\n%v", all, some, last)
	}
}

// What samples tell is scaled to what is counted, each side by itself. Where no sample is, all
// is of stacks that are not kept.
func TestFit(t *testing.T) {
	var p Profile
	p.Add(1, &Stack{1}, 100, 10)
	p.Add(2, &Stack{2}, 300, 10)
	p.Add(3, &Stack{2}, 500, 2)
	p.Forget(3)
	list := Fit(p.Records(), handle.Tally{Blocks: 10, Bytes: 2000}, handle.Tally{Blocks: 1, Bytes: 500})
	sortByStack(list)
	if len(list) != 2 || list[0].InUse.Bytes != 500 || list[1].InUse.Bytes != 1500 || list[0].InUse.Objects() != 5 {
		t.Errorf("%+v", list)
	}
	if l := list[1].Leaked; l.Bytes != 500 || l.Objects() != 1 {
		t.Errorf("%+v leaked", l)
	}
	list = Fit(nil, handle.Tally{Blocks: 3, Bytes: 30}, handle.Tally{})
	if len(list) != 1 || list[0].Stack != nil || list[0].InUse.Bytes != 30 || list[0].InUse.Objects() != 3 {
		t.Errorf("%+v of what no sample is of", list)
	}
	if list = Fit(nil, handle.Tally{}, handle.Tally{Blocks: -1}); len(list) != 0 {
		t.Errorf("%+v of nothing", list)
	}
}

// What stacks get adds up to what is counted, in bytes and in whole buffers, whatever their share.
func TestFittedStacksAddUp(t *testing.T) {
	for n := range 20 {
		var p Profile
		for i := range n {
			p.Add(handle.ID(i), &Stack{uintptr(i + 1)}, 100+i, 1.7)
		}
		want := handle.Tally{Blocks: int64(n + n/2), Bytes: int64(1001 * n)}
		var got handle.Tally
		for _, r := range Fit(p.Records(), want, handle.Tally{}) {
			got.Blocks += r.InUse.Objects()
			got.Bytes += r.InUse.Bytes
		}
		if got != want {
			t.Errorf("%d stacks: %+v, and %+v are counted", n, got, want)
		}
	}
}

// The past has each stack as it was on average in use.
func TestThePastIsByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Profile
		for i, d := range []time.Duration{3, 1} {
			p.Add(1, &Stack{uintptr(i + 1)}, 100, 2)
			p.Add(2, &Stack{4}, 100, 1) // of half as many, and half as long
			time.Sleep(d * time.Second / 2)
			p.Remove(2)
			time.Sleep(d * time.Second / 2)
			p.Remove(1)
		}
		p.Add(1, &Stack{3}, 100, 2) // which is not over
		list := Fit(p.Past(), handle.Tally{Blocks: 10, Bytes: 1000}, handle.Tally{})
		sortByStack(list)
		if len(list) != 3 || list[0].InUse != (Amount{6 * oneObject, 600}) || list[1].InUse != list[2].InUse || list[2].InUse.Bytes != 200 {
			t.Errorf("%+v", list)
		}
	})
}

// The past has stacks whose buffers were released at once, too, and a stack of any depth.
func TestThePastHasWhatWasBrief(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Profile
		var deep Stack
		for i := range deep {
			deep[i] = uintptr(i + 1)
		}
		p.Add(1, &deep, 100, 2)
		p.Remove(1)
		list := Fit(p.Past(), handle.Tally{Blocks: 3, Bytes: 300}, handle.Tally{})
		if len(list) != 1 || !slices.Equal(list[0].Stack, deep[:]) || list[0].InUse != (Amount{3 * oneObject, 300}) {
			t.Errorf("%+v", list)
		}
	})
}

// A sample stands for whole buffers, rounded to the nearest.
func TestObjectsAreWhole(t *testing.T) {
	for stands, want := range map[float64]int64{0.4: 0, 0.5: 1, 1: 1, 1.4: 1, 1.5: 2, 2.9: 3} {
		var p Profile
		p.Add(1, &Stack{1}, 10, stands)
		if u := p.Records()[0].InUse; u.Objects() != want || u.Bytes != int64(10*stands) {
			t.Errorf("%f buffers are %d of %d bytes", stands, u.Objects(), u.Bytes)
		}
	}
}

// Where samples are of buffers of no bytes their stacks get buffers, and no bytes.
func TestFitOfBuffersOfNoBytes(t *testing.T) {
	var p Profile
	p.Add(1, &Stack{1}, 0, 2)
	list := Fit(p.Records(), handle.Tally{Blocks: 4}, handle.Tally{Blocks: 1, Bytes: -1})
	if len(list) != 2 || list[0].InUse != (Amount{4 * oneObject, 0}) || list[1].Leaked != (Amount{oneObject, 0}) {
		t.Errorf("%+v", list)
	}
}

func sortByStack(list []Record) {
	slices.SortFunc(list, func(a, b Record) int { return slices.Compare(a.Stack, b.Stack) })
}
