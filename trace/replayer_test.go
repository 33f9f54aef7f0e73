package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// A pool gives back by the time of the recording, or by a microsecond an event.
func TestAReplayHasTheTimeOfTheRecording(t *testing.T) {
	const line = "device=virtual,strategy=exact,idle=1ms,trim_after=1h"
	for text, frees := range map[string]int64{
		"op,id,size,time_ns\na,0,100,0\nf,0,100,500000\na,1,100,900000\nf,1,100,900000\n":           0,
		"op,id,size,time_ns\na,0,100,0\nf,0,100,500000\na,1,100,2000000\nf,1,100,1000\n":            1,
		"op,id,size,time_ns\na,0,100,0\nf,0,100,1\na,1,100,9223372036854775807\nf,1,100,\n":         1,
		"op,id,size\n" + strings.Repeat("a,0,100\nf,0,100\n", 400):                                  0,
		"op,id,size\na,1,1000\nf,1,1000\n" + strings.Repeat("a,0,100\nf,0,100\n", 1000) + "a,0,8\n": 0, // used all along
	} {
		r, err := Replay(read(t, text), open(t, line))
		if err != nil || r.UpstreamFrees != frees {
			t.Errorf("%.60q: %d frees, want %d; %v", text, r.UpstreamFrees, frees, err)
		}
	}
	trims := read(t, "op,id,size\na,1,1000\nf,1,1000\n"+strings.Repeat("a,0,100\nf,0,100\n", 1000))
	if r, err := Replay(trims, open(t, "device=virtual,strategy=exact,trim_after=1ms")); err != nil || r.UpstreamFrees != 1 {
		t.Errorf("2000 microseconds untouched: %d frees, %v", r.UpstreamFrees, err)
	}
}

// Caches keep what a program asks for often. How often it does is the time of the recording: one that asks a hundred
// times as seldom has less in its caches, and none without times has what one has that touches all bytes of its Gets.
func TestCachesHaveTheTimeOfTheRecording(t *testing.T) {
	run := func(ns int64) (r Result) {
		var b strings.Builder
		b.WriteString("op,id,size,time_ns\n")
		for i := range 4000 {
			for k := range 8 { // one after the other, so that one block of each size is out at a time
				fmt.Fprintf(&b, "a,0,%d,%d\nf,0,,%d\n", 100_000<<(k%3), int64(8*i+k)*ns, int64(8*i+k)*ns)
			}
		}
		r, err := Replay(read(t, b.String()), open(t, "device=heap"))
		check.Must(t, err)
		return r
	}
	often, seldom := run(1000), run(1_000_000)
	if often.UncachedAllocs > seldom.UncachedAllocs/4 {
		t.Errorf("%d Gets of 32,000 pass the caches where they come each microsecond, %d where they come each millisecond", often.UncachedAllocs, seldom.UncachedAllocs)
	}
}

// Threads of the recording run on processors of their own, as many as there are. What one
// releases is in the cache of its processor, so that another one does not find it at once.
func TestThreadsRunOnProcessors(t *testing.T) {
	text := "op,id,size,thread\n" + strings.Repeat("a,0,100000,7\nf,0,100000,9\n", 20)
	for procs, hits := range map[int]bool{0: false, 1: true, 2: false, 3: false} {
		r, err := Replayer{Processors: procs}.Run(read(t, text), open(t, "device=virtual,strategy=sizeclass"))
		if err != nil || (r.UpstreamAllocs == 1) != hits || r.Processors != cmp.Or(procs, 2) {
			t.Errorf("%d processors: %+v, %v", procs, r, err)
		}
	}
}

// A stream gives the Result of the whole trace, on a row that is wrong its error, and
// releases what is live.
func TestStreamIsRun(t *testing.T) {
	text := program(50_000)
	p := open(t, "device=virtual,strategy=slab,trim_after=1s")
	var progress []int
	o := Replayer{Processors: 2, Progress: func(events int) { progress = append(progress, events) }}
	tr := read(t, text)
	want, err := o.Run(tr, p)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(progress); n < 2 || progress[0] != chunkSteps || progress[n-1] != tr.Events() {
		t.Errorf("progress %d of %d events", progress, tr.Events())
	}
	got, err := o.Stream(NewReader(strings.NewReader(text), "t.csv"), p)
	got.NsPerOp, want.NsPerOp = 0, 0
	if err != nil || got != want {
		t.Errorf("%v: %+v, want %+v", err, got, want)
	}
	var wrong *SyntaxError
	if _, err := o.Stream(NewReader(strings.NewReader(text+"f,1000000,,,\n"), "t.csv"), p); !errors.As(err, &wrong) {
		t.Error(err)
	}
	if s := p.Stats(); s.ActiveBytes != 0 || s.ManagedBytes != 0 {
		t.Errorf("%+v", s)
	}
	if _, err := o.Stream(NewReader(strings.NewReader("g,k,8\n"), "t.csv"), p); !errors.Is(err, ErrKeyed) {
		t.Error(err)
	}
}

// A stream has in memory what is live, not what was.
func TestAStreamIsNotKept(t *testing.T) {
	const events = 1_000_000
	text := func() io.Reader {
		return io.LimitReader(&loop{text: []byte("a,0,100\nf,0,100\n")}, events*8)
	}
	p := open(t, "device=virtual,strategy=slab")
	var peak uint64
	o := Replayer{Progress: func(int) {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapAlloc)
	}}
	r, err := o.Stream(NewReader(text(), "t.csv"), p)
	if err != nil || r.Allocs+r.Frees != events || peak > 8<<20 {
		t.Errorf("%d events, %d bytes, %v", r.Allocs+r.Frees, peak, err)
	}
}

func TestTheTimeOfProgressIsNotCounted(t *testing.T) {
	const spin = 100 * time.Millisecond
	o := Replayer{Progress: func(int) {
		for start := time.Now(); time.Since(start) < spin; {
		}
	}}
	tr := read(t, "a,0,100\nf,0,100\n")
	if r, err := o.Run(tr, open(t, "device=virtual,strategy=slab")); err != nil || r.NsPerOp*2 > float64(spin/2) {
		t.Errorf("%v ns an op, %v", r.NsPerOp, err)
	}
}

// loop is a text again and again.
type loop struct {
	text []byte
	at   int
}

func (l *loop) Read(p []byte) (n int, err error) {
	for n < len(p) {
		k := copy(p[n:], l.text[l.at:])
		n, l.at = n+k, (l.at+k)%len(l.text)
	}
	return n, nil
}

func TestAReplayWantsAPoolOfItsOwn(t *testing.T) {
	tr := read(t, "a,0,100\nf,0,100\n")
	p := open(t, "device=virtual,strategy=exact")
	b, err := p.Get(10)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Replay(tr, p); err == nil || !strings.Contains(err.Error(), "no buffers out") {
		t.Error(err)
	}
	if err := b.Release(); err != nil {
		t.Error(err)
	}
	for range 2 { // what it held does not count, nor what it did
		if r, err := Replay(tr, p); err != nil || r.UpstreamAllocs != 1 || p.Stats().Hits != 0 {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	for _, p := range []*slab.Pool{p, nil} {
		if _, err := Replay(tr, p); !errors.Is(err, slab.ErrClosed) {
			t.Error(err)
		}
	}
}

// The device of a pool that was opened again is closed once, with the pool.
func TestAReplayLeavesTheDeviceOpen(t *testing.T) {
	virtual, err := device.Open("virtual")
	if err != nil {
		t.Fatal(err)
	}
	d := &closing{Device: virtual}
	opensClosing = d
	p := open(t, "device=closing,strategy=slab")
	if _, err := Replay(read(t, "a,0,100\nf,0,100\n"), p); err != nil || d.closed != 0 {
		t.Error(d.closed, err)
	}
	if err := errors.Join(p.Close(), p.Close()); err != nil || d.closed != 1 {
		t.Error(d.closed, err)
	}
}

type closing struct {
	device.Device
	closed int
}

// opensClosing is what the scheme "closing" opens.
var opensClosing *closing

func init() {
	device.Register("closing", func(string) (device.Device, error) { return opensClosing, nil })
}

func (c *closing) Close() error {
	c.closed++
	return nil
}

// Ops returns what the Reader has read, but for the numbers of allocations.
func TestOpsAreThoseOfTheRecording(t *testing.T) {
	large, larger := strconv.Itoa(math.MaxInt-1000), strconv.Itoa(math.MaxInt-500)
	text := "op,id,size,stream,thread,time_ns\na,90,100,0,0,0\na,80," + large + ",0,0,5\nf,90,100,7,8,0\na,90,3,7,8,9\n" +
		"f,80,,0,8,10\na,70," + larger + ",0,8,10\n"
	tr := read(t, text)
	want, _ := ops(text)
	i := 0
	numbers := []uint64{0, 1, 0, 0, 1, 1}
	for op := range tr.Ops() {
		want[i].ID = numbers[i]
		if op != want[i] {
			t.Errorf("op %d is %+v, want %+v", i, op, want[i])
		}
		i++
	}
	if i != tr.Events() || i != len(want) {
		t.Errorf("%d ops", i)
	}
	keyed := read(t, "g,k,5\ng,l,6\ng,k,7\n")
	var all []Op
	for op := range keyed.Ops() {
		all = append(all, op)
	}
	if len(all) != 3 || all[1] != (Op{Kind: Get, Key: "l", Size: 6}) || all[2].Key != "k" {
		t.Errorf("%+v", all)
	}
}
