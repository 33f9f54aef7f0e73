package opencl

import (
	"errors"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

// An eventLedger counts the references to events, and what is asked of events
// to which there are none: the driver may have made them something else by then.
type eventLedger struct {
	mu    sync.Mutex
	refs  map[eventID]int
	stale int
}

// made counts a command's event, whose wait list has to be there.
func (l *eventLedger) made(k code, n uint32, after, done *eventID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range unsafe.Slice(after, n) {
		if l.refs[e] == 0 {
			l.stale++
		}
	}
	if k == succeeded && done != nil {
		l.refs[*done]++
	}
}

func (l *eventLedger) count(e eventID, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refs[e] == 0 {
		l.stale++
	}
	if l.refs[e] += n; l.refs[e] == 0 {
		delete(l.refs, e)
	}
}

func (l *eventLedger) out() (events, stale int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.refs), l.stale
}

func (l *eventLedger) watch(a *api) {
	l.refs = map[eventID]int{}
	wrap(a, func(call func() []reflect.Value, args []reflect.Value) []reflect.Value {
		r, wait := call(), args[len(args)-3:]
		l.made(r[0].Interface().(code), wait[0].Interface().(uint32), wait[1].Interface().(*eventID), wait[2].Interface().(*eventID))
		return r
	}, "EnqueueMigrate", "EnqueueCopyBuffer", "EnqueueFillBuffer", "EnqueueReadBuffer", "EnqueueWriteBuffer", "EnqueueMarker", "EnqueueBarrier", "EnqueueSVMMap", "EnqueueSVMUnmap")
	real := *a
	a.RetainEvent = func(e eventID) code { l.count(e, 1); return real.RetainEvent(e) }
	a.ReleaseEvent = func(e eventID) code { l.count(e, -1); return real.ReleaseEvent(e) }
}

// Every event goes back to the driver, once and not before its last use: those
// of work with the work, those of the program when the collector finds them, and with
// them the context.
func TestEventsAreGivenBack(t *testing.T) {
	var l eventLedger
	found := doubles(t, l.watch)
	d := check.Ok(openOn(found, "0"))(t)
	useEvents(t, d)
	check.Must(t, d.Close())
	for deadline := time.Now().Add(30 * time.Second); ; runtime.GC() {
		events, stale := l.out()
		if stale > 0 {
			t.Fatalf("%d events were used after they were given back", stale)
		}
		if events == 0 && !isOpen(found[0]) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d events stay behind", events)
		}
	}
}

// So does that of memory which changes hands, and which goes.
func TestEventsOfSharedVirtualMemory(t *testing.T) {
	var l eventLedger
	d := opened(t, "svm", l.watch)
	s := devcheck.Stream(t, d)
	b, lent := devcheck.Alloc(t, d, 100), devcheck.Alloc(t, d, 100)
	r := b.Region.(*SVM)
	check.Must(t, r.Unmap(s), r.Map(s), lent.Region.(*SVM).Unmap(s), s.Close())
	d.Free(b)
	d.Free(lent)
	if events, stale := l.out(); events != 0 || stale != 0 {
		t.Errorf("%d events stay behind, %d were used after they were given back", events, stale)
	}
}

// An event is over when it is complete or has failed, and when the driver knows nothing of it any more.
func TestOutcome(t *testing.T) {
	const queued, submitted, running, complete = 3, 2, 1, 0
	for status, want := range map[int32]bool{queued: false, submitted: false, running: false, complete: true, -5: true} {
		for _, answer := range []code{succeeded, -58} {
			c := &context{hardware: &hardware{api: &api{
				GetEventInfo: func(_ eventID, _ uint32, _ uintptr, value unsafe.Pointer, _ *uintptr) code {
					*(*int32)(value) = status
					return answer
				},
			}}}
			over, k := c.outcome(7)
			if answer != succeeded {
				if !over || k != answer {
					t.Errorf("an event that is not known: over %t, %d", over, k)
				}
			} else if over != want || over && k != code(status) {
				t.Errorf("status %d: over %t, %d", status, over, k)
			}
		}
	}
}

// Streams that wait for each other's past find their failures in the order of their work.
func TestTheFirstFailureIsFoundFirst(t *testing.T) {
	status := map[eventID]int32{1: -4, 2: -6, 3: -5}
	c := &context{hardware: &hardware{api: &api{
		GetEventInfo: func(e eventID, _ uint32, _ uintptr, value unsafe.Pointer, _ *uintptr) code {
			*(*int32)(value) = status[e]
			return succeeded
		},
		ReleaseEvent: func(eventID) code { return succeeded },
	}}}
	x, y := &Stream{ctx: c, count: 2}, &Stream{ctx: c, count: 1}
	x.pending = []work{{done: 1, number: 0, cause: &Event{stream: y, count: 1}}, {done: 2, number: 1}}
	y.pending = []work{{done: 3, number: 0, cause: &Event{stream: x, count: 1}}}
	x.reap()
	var e *Error
	if !errors.As(x.err, &e) || e.Code != -5 || x.good != 0 || len(x.pending) != 0 { // that of y, for which x waited
		t.Errorf("%v behind %d calls, %d under way", x.err, x.good, len(x.pending))
	}
}

func isOpen(h *hardware) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.shared != nil
}

// useEvents shares two streams among goroutines.
//
//go:noinline
func useEvents(t *testing.T, d *Device) {
	one := devcheck.Stream(t, d)
	two := devcheck.Stream(t, d)
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 50 {
				if err := errors.Join(useEventsOnce(d, one, two, i)...); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	check.Must(t, one.Close(), two.Close())
}

func useEventsOnce(d *Device, one, two device.Stream, i int) (errs []error) {
	b, err := d.Alloc(1000)
	if err != nil {
		return []error{err}
	}
	defer d.Free(b)
	host := device.Host(make([]byte, 1000))
	errs = append(errs, one.Copy(b, host), one.Copy(devcheck.Part(b, 0, 900), devcheck.Part(b, 100, 900)), one.Fill(b, byte(i)))
	e, err := one.Record()
	if err != nil {
		return append(errs, err)
	}
	errs = append(errs, two.Wait(e), two.Copy(host, b), e.Sync(), d.Copy(host, b))
	if i%10 == 0 {
		errs = append(errs, two.Sync())
	}
	return errs
}
