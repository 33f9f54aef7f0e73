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
	}, "EnqueueMigrate", "EnqueueCopyBuffer", "EnqueueFillBuffer", "EnqueueReadBuffer", "EnqueueWriteBuffer", "EnqueueMarker", "EnqueueBarrier")
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
