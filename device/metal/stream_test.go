package metal

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/device/metal/internal/double"
	"github.com/bufslab/bufslab/internal/check"
)

// Work of words is only enqueued, and an event is done with it and not before.
func TestStreamDoesNotWait(t *testing.T) {
	for _, name := range []string{"metal:0", "metal:0:private"} {
		lazy(t)
		d := opened(t, name)
		p := pinnedOf(t, d)
		s, want := streamOn(t, d), devcheck.Pattern(1000, 0)
		host, back, on := allocated(t, p, 1000), allocated(t, p, 1000), allocated(t, d, 1000)
		copy(device.Bytes(host), want)
		check.Must(t, s.Copy(on, host), s.Copy(back, on), s.Fill(host, 7))
		e := devcheck.Record(t, s)
		if device.Bytes(back)[0] == want[0] || device.Bytes(host)[0] == 7 {
			t.Error("work was done before it was waited for")
		}
		if e.Done() {
			t.Error("an event is done before its work")
		}
		check.Must(t, s.Sync())
		check.Same(t, device.Bytes(back), want, "bytes")
		if !e.Done() || device.Bytes(host)[999] != 7 {
			t.Error("Sync did not do all the work")
		}
	}
}

// Bytes that are no words are moved when the call returns, after what comes before them.
func TestOddBytesWaitTheirTurn(t *testing.T) {
	for _, name := range names {
		lazy(t)
		d := opened(t, name)
		b, s := allocated(t, d, 40), streamOn(t, d)
		want := devcheck.Pattern(40, 1)
		devcheck.Write(t, d, b, want)
		for i, x := range [][2]int{{1, 38}, {13, 2}, {33, 6}, {3, 2}, {4, 3}, {5, 1}, {16, 7}, {0, 39}, {2, 37}} {
			check.Must(t, s.Fill(devcheck.Part(b, 0, 40), byte(i)), s.Fill(devcheck.Part(b, 4, 8), byte(50+i)))
			check.Must(t, s.Fill(devcheck.Part(b, x[0], x[1]), byte(100+i)))
			device.Fill(want, byte(i))
			device.Fill(want[4:12], byte(50+i))
			device.Fill(want[x[0]:x[0]+x[1]], byte(100+i))
			check.Must(t, s.Sync())
			check.Same(t, devcheck.Read(t, d, b), want, name+", a fill")
			check.Must(t, s.Fill(devcheck.Part(b, 8, 8), byte(150+i)), s.Copy(devcheck.Part(b, 21, 9), devcheck.Part(b, 5, 9)))
			device.Fill(want[8:16], byte(150+i))
			copy(want[21:30], want[5:14])
			check.Must(t, s.Sync())
			check.Same(t, devcheck.Read(t, d, b), want, name+", a copy")
		}
	}
}

// Goroutines that write neighbours in one word of private memory do not undo each other's bytes.
func TestNeighboursInAWord(t *testing.T) {
	d := opened(t, "metal:0:private")
	b := allocated(t, d, 64)
	var all sync.WaitGroup
	for g := range 4 {
		s := streamOn(t, d)
		all.Go(func() {
			for i := range 50 {
				for off := g; off < 64; off += 4 {
					if err := s.Fill(devcheck.Part(b, off, 1), byte(i)); err != nil {
						t.Error(err)
					}
				}
				m := []byte{0}
				if err := d.Copy(device.Host(m), devcheck.Part(b, g, 1)); err != nil || m[0] != byte(i) {
					t.Errorf("byte %d is %d, not %d: %v", g, m[0], i, err)
				}
			}
		})
	}
	all.Wait()
}

// Whatever is enqueued, no more than Metal takes is under way, and a stream of many batches does all.
func TestManyBatches(t *testing.T) {
	lazy(t)
	d := opened(t, "metal:0")
	b, s := allocated(t, d, 4), streamOn(t, d)
	var events []device.Event
	for i := range 300 {
		check.Must(t, s.Fill(b, byte(i)))
		events = append(events, devcheck.Record(t, s))
	}
	for range 300 * mostCalls { // without a Record, too
		check.Must(t, s.Fill(b, 9))
	}
	check.Must(t, s.Sync())
	for i, e := range events {
		if !e.Done() {
			t.Fatalf("event %d is not done", i)
		}
	}
	check.Same(t, device.Bytes(b), []byte{9, 9, 9, 9}, "bytes")
}

// A batch waits for the one before, as Metal does not say that they end in order, and the first for none.
func TestABatchWaitsForTheOneBefore(t *testing.T) {
	d := check.Ok(openOn(anew(t), "0"))(t)
	b, s := allocated(t, d, 8), streamOn(t, d)
	a, call, told := d.hw.api, d.hw.call, ""
	a.call = func(fn uintptr, args ...uintptr) (r1, r2, errno uintptr) {
		if fn == a.send {
			switch args[1] {
			case a.sel[selEncodeWait]:
				told += fmt.Sprintf("wait %d,", args[3])
			case a.sel[selFill]:
				told += "fill,"
			case a.sel[selEncodeSignal]:
				told += fmt.Sprintf("signal %d,", args[3])
			case a.sel[selCommit]:
				told += "commit "
			}
		}
		return call(fn, args...)
	}
	var last device.Event
	for range 3 {
		check.Must(t, s.Fill(b, 1), s.Fill(b, 2))
		last = devcheck.Record(t, s)
	}
	if !last.Done() { // the double does work at once
		t.Error("of three batches that are over the last is not done")
	}
	if told != "fill,fill,signal 1,commit wait 1,fill,fill,signal 2,commit wait 2,fill,fill,signal 3,commit " {
		t.Error(told)
	}
}

// A stream that has more to do than Metal takes waits for the oldest work, and not for all of it.
func TestManyBatchesWaitForTheOldest(t *testing.T) {
	lazy(t)
	d := opened(t, "metal:0")
	b, s := allocated(t, d, 4), streamOn(t, d)
	var events []device.Event
	for range mostPending + 12 {
		check.Must(t, s.Fill(b, 1))
		events = append(events, devcheck.Record(t, s))
	}
	if n := len(events); !events[0].Done() || events[n-2].Done() {
		t.Errorf("of %d events the first is done: %t, the last but one: %t", n, events[0].Done(), events[n-2].Done())
	}
}

// The GPU begins with work that nothing waits for.
func TestMuchWorkBeginsWithoutARecord(t *testing.T) {
	d := opened(t, "metal:0")
	b, s := allocated(t, d, 4), streamOn(t, d)
	for range 2000 {
		check.Must(t, s.Fill(b, 1))
	}
	if s.next() == 1 {
		t.Error("2000 calls are not committed")
	}
}

// Streams that wait for each other's past do all their work, and no look at one ends in a look at itself.
func TestStreamsThatWaitForEachOther(t *testing.T) {
	for _, when := range []func(testing.TB){lazy, late} {
		when(t)
		d := opened(t, "metal:0")
		a, b, x, y := allocated(t, d, 4), allocated(t, d, 4), streamOn(t, d), streamOn(t, d)
		check.Must(t, x.Fill(a, 1), y.Fill(b, 2))
		ex, ey := devcheck.Record(t, x), devcheck.Record(t, y)
		check.Must(t, x.Wait(ey), y.Wait(ex), x.Fill(b, 3), y.Fill(a, 4))
		last := devcheck.Record(t, x)
		check.Must(t, devcheck.Record(t, y).Sync(), last.Sync(), x.Sync(), y.Sync())
		check.Same(t, append(device.Bytes(a)[:4:4], device.Bytes(b)[:4]...), []byte{4, 4, 4, 4, 3, 3, 3, 3}, "bytes")
	}
}

// A wait ends the encoder that is open, and comes between what was asked for before it and after it.
func TestWaitAmongWork(t *testing.T) {
	lazy(t)
	d := opened(t, "metal:0")
	a, b, s, other := allocated(t, d, 8), allocated(t, d, 8), streamOn(t, d), streamOn(t, d)
	check.Must(t, other.Fill(a, 1))
	e := devcheck.Record(t, other)
	check.Must(t, s.Fill(b, 7), s.Wait(e), s.Copy(devcheck.Part(b, 0, 4), devcheck.Part(a, 0, 4)), s.Sync())
	check.Same(t, device.Bytes(b), []byte{1, 1, 1, 1, 7, 7, 7, 7}, "bytes")
}

// Record of nothing new makes no command buffer, unless others have the queue.
func TestRecordOfNothingNew(t *testing.T) {
	d := opened(t, "metal:0")
	s := streamOn(t, d)
	if e := devcheck.Record(t, s).(*Event); e.number != 0 || !e.Done() {
		t.Errorf("an event before all work has the number %d", e.number)
	}
	check.Must(t, s.Fill(allocated(t, d, 4), 1))
	if a, b := devcheck.Record(t, s).(*Event), devcheck.Record(t, s).(*Event); a.number != 1 || b.number != 1 {
		t.Errorf("events of the same work have the numbers %d and %d", a.number, b.number)
	}
	if s.Queue() == 0 {
		t.Error("a stream has no queue")
	}
	if e := devcheck.Record(t, s).(*Event); e.number != 2 {
		t.Errorf("an event behind the work of others has the number %d", e.number)
	}
	check.Must(t, s.Sync(), s.Close())
	if s.Queue() != 0 {
		t.Error("a closed stream has a queue")
	}
}

// Queue has the work so far begin, so that kernels come after it.
func TestQueueCommits(t *testing.T) {
	needsDouble(t)
	d := opened(t, "metal:0")
	b, s := allocated(t, d, 4), streamOn(t, d)
	check.Must(t, s.Fill(b, 3))
	if s.Queue(); device.Bytes(b)[0] != 3 {
		t.Error("work before Queue waits for what comes after it")
	}
}

// Close waits for the work. A call that runs beside it works or gets ErrClosed.
func TestCloseWaits(t *testing.T) {
	lazy(t)
	d := opened(t, "metal:0")
	host := allocated(t, d, 1000)
	for range 20 {
		s, other := devcheck.Stream(t, d), streamOn(t, d)
		check.Must(t, s.Fill(host, 3))
		e := devcheck.Record(t, s)
		var all sync.WaitGroup
		all.Go(func() { _ = s.Sync() })
		all.Go(func() { check.Wraps(t, other.Wait(e)) })
		check.Must(t, s.Close())
		if !e.Done() || device.Bytes(host)[999] != 3 {
			t.Fatal("Close did not wait for the work")
		}
		all.Wait()
		clear(device.Bytes(host))
		check.Wraps(t, s.Sync(), device.ErrClosed)
		check.Wraps(t, s.Wait(e), device.ErrClosed)
		check.Must(t, other.Wait(e), other.Sync())
	}
}

// A stream waits for one of another GPU, in the calling goroutine.
func TestStreamWaitsForAnotherGPU(t *testing.T) {
	lazy(t)
	if len(check.Ok(Devices())(t)) < 2 {
		t.Skip("there is one GPU")
	}
	s, other := streamOn(t, opened(t, "metal:0")), streamOn(t, opened(t, "metal:1"))
	check.Must(t, other.Fill(allocated(t, opened(t, "metal:1"), 4), 1))
	e := devcheck.Record(t, other)
	if check.Must(t, s.Wait(e)); !e.Done() {
		t.Error("a wait for another GPU did not wait")
	}
}

// Objects go with what they were made for: a program leaves none behind.
func TestObjectsGo(t *testing.T) {
	for _, late := range []int{0, 1} {
		set(t, "LAZY", late)
		d := opened(t, "metal:0:private")
		host := device.Host(make([]byte, 1001))
		a := allocated(t, d, 1001)
		check.Must(t, d.Copy(a, host)) // which makes a stage, and keeps it
		before := double.Living()
		work := func(s, other *Stream) {
			b := devcheck.Alloc(t, d, 1001)
			check.Must(t, s.Fill(b, 1), s.Copy(a, b), s.Copy(host, b), s.Fill(devcheck.Part(b, 0, 8), 2))
			check.Must(t, other.Wait(devcheck.Record(t, s)), other.Copy(b, a), other.Sync(), s.Sync())
			d.Free(b)
		}
		s, other := devcheck.Stream(t, d).(*Stream), devcheck.Stream(t, d).(*Stream)
		for range 20 {
			work(s, other)
		}
		check.Must(t, s.Fill(a, 1), s.Close(), other.Close())
		if n := double.Living() - before; n != 0 {
			t.Errorf("lazy %d: %d objects are left", late, n)
		}
	}
}

// Every call has a pool of its thread, whichever thread a goroutine is on.
func TestCallsOnEveryThread(t *testing.T) {
	needsDouble(t)
	d := opened(t, "metal:0:private")
	s := streamOn(t, d)
	for range 8 {
		onThread(func() {
			b, err := d.Alloc(100)
			if err != nil {
				t.Error(err)
				return
			}
			check.Wraps(t, s.Fill(b, 1))
			check.Wraps(t, d.Copy(b, device.Host(make([]byte, 100))))
			e, err := s.Record()
			if err != nil || e.Sync() != nil || s.Sync() != nil {
				t.Error("work of another thread fails")
			}
			d.Free(b)
		})
		runtime.Gosched()
	}
}

// A failure names what was asked for.
func TestFailureHasADetail(t *testing.T) {
	needsDouble(t)
	d := opened(t, "metal:0")
	s := streamOn(t, d)
	double.Fail(1, 8)
	check.Must(t, s.Fill(allocated(t, d, 1000), 1))
	err := s.Sync()
	if check.Wraps(t, err, device.ErrOutOfMemory); !strings.Contains(err.Error(), "a fill of 1000 bytes") || !strings.Contains(err.Error(), "told to fail with code 8") {
		t.Error(err)
	}
}
