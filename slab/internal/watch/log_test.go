package watch

import (
	"bytes"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"unsafe"

	"github.com/bufslab/bufslab/internal/upstreamtest"
	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/profile"
	"github.com/bufslab/bufslab/slab/internal/record"
)

// slots returns a function that makes slots of blocks of n bytes.
func slots() func(n int) *handle.Slot {
	table := new(handle.Table)
	table.Open(nil, handle.Options{Lock: new(sync.Mutex), WatchFrom: 1 << 30, WatchUnreachableFrom: 1 << 30})
	return func(n int) *handle.Slot {
		e, _ := table.Attach(upstreamtest.Block(n), 0, 0, true)
		return e.Slot
	}
}

// names lists leaks as their bytes, with an f for forgotten ones and a ! for the first of a place.
func names(list []Leak) string {
	var s []string
	for _, l := range list {
		mark := ""
		if l.Forgotten {
			mark = "f"
		}
		if l.First {
			mark += "!"
		}
		s = append(s, fmt.Sprint(l.Bytes, mark))
	}
	return strings.Join(s, " ")
}

// A Log lists what is out, the smallest first, and then what was forgotten. Without places it lists nothing, and counts.
func TestAListHasWhatIsOut(t *testing.T) {
	for _, sites := range []bool{true, false} {
		slot := slots()
		var l Log
		l.Open(Options{Sites: sites})
		get := func(n int) *handle.Slot {
			s := slot(100)
			l.Got(s, s.Lend(n), n)
			return s
		}
		a, b, c, d := get(30), get(20), get(10), get(40)
		part, gone, lost := slot(100), slot(100), slot(100)
		lost.Lend(3)
		l.Part(a, part, 5)
		l.Part(a, gone, 4)
		l.Part(a, lost, 3)
		l.Part(d, slot(100), 2)
		l.PartEnded(a, gone)
		l.Released(b)
		l.Forgotten(c, true)
		l.Forgotten(d, false)
		l.PartForgotten(a, lost)
		l.PartForgotten(a, slot(100)) // which the Log does not know
		l.PartForgotten(a, nil)
		want := "5 30 10f! 40f 2f 3f"
		if !sites {
			want = ""
		}
		if got := names(l.List()); got != want {
			t.Errorf("places %v: %q, want %q", sites, got, want)
		}
		forgotten, quarantined, parts := l.Counts()
		if forgotten != (handle.Tally{Blocks: 2, Bytes: 50}) || quarantined != (handle.Tally{Blocks: 1, Bytes: 100}) || parts != 3 {
			t.Errorf("%+v forgotten, %+v in quarantine, %d parts", forgotten, quarantined, parts)
		}
		if l.SeesAll() != sites || l.ForgottenBytes() != 50 {
			t.Errorf("places %v: sees all %v, %d bytes", sites, l.SeesAll(), l.ForgottenBytes())
		}
		l.Isolated(7)
		l.TookOver(100)
		if _, quarantined, _ = l.Counts(); quarantined != (handle.Tally{Blocks: 1, Bytes: 7}) {
			t.Errorf("%+v in quarantine", quarantined)
		}
		if how := l.How(b.ID()); strings.HasPrefix(how, "released at ") != sites || l.How(a.ID()) != FoundForgotten {
			t.Errorf("%s, and %s", how, l.How(a.ID()))
		}
		runtime.KeepAlive([]*handle.Slot{a, b, c, d, part})
	}
}

// The first buffer of each place that goes into quarantine is marked, and each leak is told once.
func TestTheFirstOfAPlaceIsMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []Leak
		slot := slots()
		var l Log
		l.Open(Options{Sites: true, Leaked: func(x Leak) { told = append(told, x) }})
		for i := range 3 {
			s := slot(100)
			l.Got(s, s.Lend(10+i), 10+i)
			part := slot(100)
			part.Lend(i)
			l.Part(s, part, i)
			l.PartForgotten(s, part)
			synctest.Wait()
			l.Forgotten(s, i > 0)
			if synctest.Wait(); len(told) != 2*(i+1) {
				t.Errorf("%d are told after %d were forgotten", len(told), 2*(i+1))
			}
		}
		s := slot(100)
		l.Got(s, s.Lend(20), 20)
		l.Forgotten(s, true)
		synctest.Wait()
		if got := names(told); got != "0f 10f 1f 11f! 2f 12f 20f!" {
			t.Error(got)
		}
	})
}

// A recording has one allocation for a buffer that goes on with another size, and two where both stay.
func TestRecordings(t *testing.T) {
	var text bytes.Buffer
	slot := slots()
	var l Log
	l.Open(Options{Record: record.To(&text, record.Options{})})
	a, b, c := slot(100), slot(200), slot(300)
	l.Got(a, a.Lend(10), 10) // id 0
	l.GotToGrow(b, b.Lend(20), 20)
	l.Moved(a, b, 20, false)
	l.Freed(l.Released(a)) // is none of the recording any more
	l.Grown(l.Growing(b), b, b.Generation(), 25)
	l.GotToGrow(c, c.Lend(30), 30)
	l.Moved(b, c, 30, true) // id 1
	l.Freed(l.Released(b))
	d := slot(400)
	l.GotToGrow(d, d.Lend(40), 40)
	l.Freed(l.Released(d)) // as nothing has moved there
	l.PutBySlice(1, 2)
	l.PutBySlice(1, 2)
	l.Forgotten(c, false)
	if err := l.Record.Close(); err != nil || !l.SeesAll() {
		t.Errorf("%v, sees all %v", err, l.SeesAll())
	}
	if got := strings.Join(strings.Fields(text.String())[1:], " "); got != "a,0,10 g,0,20 g,0,25 a,1,30 f,0,20 p,1,2 f,1,30" {
		t.Error(got)
	}
}

// panicked returns what f panics with, "" if it does not.
func panicked(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

// A second Release says where the first one was, as far as that is known. It panics only where mistakes do.
func TestReleasedTwice(t *testing.T) {
	slot := slots()
	for what, c := range map[string]struct {
		do   func(l *Log, s *handle.Slot, gen uint64) (second *handle.Slot)
		want string
	}{
		"a place": {func(l *Log, s *handle.Slot, _ uint64) *handle.Slot { l.Released(s); return s }, "/log_test.go:"},
		"a slice": {func(l *Log, s *handle.Slot, _ uint64) *handle.Slot { s.BySlice(); l.Released(s); return s }, "/log_test.go:"},
		"none yet": {func(_ *Log, s *handle.Slot, _ uint64) *handle.Slot { return s },
			"a place not known yet, as a part or a call of With has the memory"},
		"an earlier owner": {func(l *Log, s *handle.Slot, gen uint64) *handle.Slot {
			l.Released(s)
			s.End(gen)
			l.Got(s, s.Lend(10), 10)
			return s
		}, "an earlier owner's Release"},
		"a part": {func(l *Log, s *handle.Slot, gen uint64) *handle.Slot {
			s.Pin(gen)
			e, _ := s.Part(unsafe.Pointer(s), 0, 5)
			return e.Slot
		}, "a place that is not kept for parts"},
	} {
		for _, strict := range []bool{true, false} {
			var l Log
			var told int
			l.Open(Options{Strict: strict, Sites: true, DoubleRelease: func(n int) { told += n }})
			s := slot(100)
			gen := s.Lend(10)
			l.Got(s, gen, 10)
			second := c.do(&l, s, gen)
			text := panicked(func() { l.ReleasedTwice(second, gen, 10) })
			_, first, _ := strings.Cut(text, ", before that at ")
			if strings.Contains(first, c.want) != strict || (text == "") == strict {
				t.Errorf("%s, strict %v: %q", what, strict, text)
			}
			if doubles, foreign := l.Misuse(); doubles != 1 || foreign != 0 || told != 10 {
				t.Errorf("%s: %d and %d, of %d bytes", what, doubles, foreign, told)
			}
		}
	}
}

// A Put of what is not out names a pool that has it, where there is one.
func TestPutForeign(t *testing.T) {
	for owner, want := range map[string]string{"": "", "other": "; pool other has it"} {
		l := Log{Options: Options{Strict: true}}
		text := panicked(func() { l.PutForeign(make([]byte, 3, 5), owner) })
		if !strings.HasPrefix(text, "slab: Put of 5 bytes ") || strings.Contains(text, "pool other") != (owner != "") || !strings.HasSuffix(text, want) {
			t.Errorf("%q: %q", owner, text)
		}
		l.Strict = false
		l.PutForeign(nil, owner)
		if doubles, foreign := l.Misuse(); doubles != 0 || foreign != 2 {
			t.Errorf("%d and %d", doubles, foreign)
		}
	}
}

// What is logged late is logged once, in order, before Flush returns.
func TestALateLog(t *testing.T) {
	var text bytes.Buffer
	l := LateLog{Log: func() *slog.Logger { return slog.New(slog.NewTextHandler(&text, nil)) }}
	l.Error("one")
	l.Error("two")
	for range 2 {
		l.Flush()
		if got := text.String(); strings.Count(got, "\n") != 2 || strings.Index(got, "one") > strings.Index(got, "two") {
			t.Error(got)
		}
	}
}

// A leak by samples is of its stack, those that are out by size before those that were forgotten. What no sample of a
// stack stands for, or no one buffer, is none.
func TestSampledLeaks(t *testing.T) {
	var p profile.Profile
	for i, bytes := range []int{300, 100, 200} {
		p.Add(handle.ID(i), &profile.Stack{uintptr(i + 1)}, bytes, float64(i+1))
	}
	p.Add(7, &profile.Stack{7}, 5, 0.1)
	p.Add(8, &profile.Stack{1}, 50, 1)
	p.Forget(8)
	list := SampledLeaks(append(p.Records(), profile.Record{}))
	if got := names(list); got != "200 300 600 50f" || list[0].Sampled != 2 || !slices.Equal(list[0].Stack, []uintptr{2}) {
		t.Errorf("%s: %+v", got, list)
	}
}

// A Sampler that is off has no records. One that is on says who has what is out, by the past where no sample is out.
func TestASamplerSaysWhoHasIt(t *testing.T) {
	out := handle.Tally{Blocks: 4, Bytes: 400}
	var off Sampler
	off.Open(0)
	if list := off.Records(out, handle.Tally{}); list != nil {
		t.Errorf("%+v", list)
	}
	var on Sampler
	on.Open(1).Hold()
	a, b := slots()(100), slots()(100)
	gen := a.Lend(10)
	on.Sample(a, 10, 1)
	list := on.Records(out, handle.Tally{})
	if len(list) != 1 || list[0].InUse.Bytes != 400 || !strings.Contains(SiteOf(list[0].Stack[:1]), "log_test.go:") {
		t.Errorf("%+v", list)
	}
	a.EndPinned(gen)
	on.Released(a)
	on.Released(a)
	was := list[0].Stack
	if list = on.Records(out, handle.Tally{}); len(list) != 1 || list[0].InUse.Bytes != 400 || !slices.Equal(list[0].Stack, was) {
		t.Errorf("by the past: %+v", list)
	}
	gen = b.Lend(20)
	on.Sample(b, 20, 1)
	if list = on.Records(out, handle.Tally{}); len(list) != 1 || slices.Equal(list[0].Stack, was) {
		t.Errorf("of what is out and of the past: %+v", list)
	}
	b.EndPinned(gen)
	on.Forgotten(b)
	var leaked profile.Amount
	for _, r := range on.Records(out, handle.Tally{Blocks: 1, Bytes: 20}) {
		leaked.Add(r.Leaked)
	}
	if leaked.Bytes != 20 || leaked.Objects() != 1 {
		t.Errorf("forgotten: %+v", leaked)
	}
}
