package opencl

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// An eventLedger counts the references to events, and what is asked of events
// to which there are none: the driver may have made them something else by then.
type eventLedger struct {
	mu    sync.Mutex
	refs  map[eventID]int
	stale int
}

// made counts a command's event, whose wait list has to be there.
func (l *eventLedger) made(k code, n uint32, after, done *eventID) code {
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
	return k
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
	real := *a
	l.refs = map[eventID]int{}
	a.EnqueueMigrate = func(q queueID, mems uint32, m *memID, flags uint64, n uint32, after, done *eventID) code {
		return l.made(real.EnqueueMigrate(q, mems, m, flags, n, after, done), n, after, done)
	}
	a.EnqueueCopyBuffer = func(q queueID, src, dst memID, from, to, size uintptr, n uint32, after, done *eventID) code {
		return l.made(real.EnqueueCopyBuffer(q, src, dst, from, to, size, n, after, done), n, after, done)
	}
	a.EnqueueFillBuffer = func(q queueID, m memID, pattern *byte, width, off, size uintptr, n uint32, after, done *eventID) code {
		return l.made(real.EnqueueFillBuffer(q, m, pattern, width, off, size, n, after, done), n, after, done)
	}
	a.EnqueueReadBuffer = func(q queueID, m memID, wait uint32, off, size uintptr, host unsafe.Pointer, n uint32, after, done *eventID) code {
		return l.made(real.EnqueueReadBuffer(q, m, wait, off, size, host, n, after, done), n, after, done)
	}
	a.EnqueueWriteBuffer = func(q queueID, m memID, wait uint32, off, size uintptr, host unsafe.Pointer, n uint32, after, done *eventID) code {
		return l.made(real.EnqueueWriteBuffer(q, m, wait, off, size, host, n, after, done), n, after, done)
	}
	a.EnqueueMarker = func(q queueID, n uint32, after, done *eventID) code {
		return l.made(real.EnqueueMarker(q, n, after, done), n, after, done)
	}
	a.EnqueueBarrier = func(q queueID, n uint32, after, done *eventID) code {
		return l.made(real.EnqueueBarrier(q, n, after, done), n, after, done)
	}
	a.RetainEvent = func(e eventID) code { l.count(e, 1); return real.RetainEvent(e) }
	a.ReleaseEvent = func(e eventID) code { l.count(e, -1); return real.ReleaseEvent(e) }
}

// Every event goes back to the driver, once and not before its last use: those
// of work with the work, those of the program when the collector finds them, and with
// them the context.
func TestEventsAreGivenBack(t *testing.T) {
	var l eventLedger
	found := doubles(t, l.watch)
	d, err := openOn(found, "0")
	must(t, err)
	useEvents(t, d)
	must(t, d.Close())
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
	one, err := d.NewStream()
	must(t, err)
	two, err := d.NewStream()
	must(t, err)
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
	must(t, one.Close())
	must(t, two.Close())
}

func useEventsOnce(d *Device, one, two device.Stream, i int) (errs []error) {
	b, err := d.Alloc(1000)
	if err != nil {
		return []error{err}
	}
	defer d.Free(b)
	host := device.Host(make([]byte, 1000))
	errs = append(errs, one.Copy(b, host), one.Copy(part(b, 0, 900), part(b, 100, 900)), one.Fill(b, byte(i)))
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
