package slab

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/record"
	"github.com/bufslab/bufslab/slab/internal/watch"
)

// Leaks lists the active buffers, and after them the forgotten ones, with the place of their
// Get. With Config.Check, Strict or OnForget=report it lists each buffer. Otherwise it has an
// estimate for each stack, from the samples of [Pool.WriteProfile]: a leak that is small
// compared with Config.ProfileRate may be missing. Without ProfileRate it is nil.
func (p *Pool) Leaks() []Leak {
	q := p.opened()
	list := q.listLeaks(q.out())
	if over := q.over.Load(); over != nil {
		list = append(list, over.listLeaks(over.out())...)
	}
	return list
}

// listLeaks is Leaks of a pool that has that many buffers out.
func (l *lending) listLeaks(out handle.Tally) []Leak {
	if l.leaks.Sites {
		return leaksOf(l.leaks.List())
	}
	return leaksOf(watch.SampledLeaks(l.sampled(out)))
}

// GuardFault returns the guarded buffer that a fault at addr has touched, if it lies off the Go
// heap and was released; else nil. Go ends a program that touches such memory, unless
// [runtime/debug.SetPanicOnFault] turns the fault into a panic, whose value has a method Addr.
func (p *Pool) GuardFault(addr uintptr) *GuardError {
	q := p.opened()
	if q.guard.Guard == nil {
		return nil
	}
	f, ok := q.guard.At(addr)
	if !ok {
		return nil
	}
	return q.guard.errorOf(f)
}

// openLog opens the log that c asks for.
func (l *lending) openLog(c Config) (err error) {
	o := watch.Options{Strict: c.Strict, Sites: c.Check || c.Strict || c.OnForget == "report"}
	if c.records() {
		o.Record, err = openRecord(c, deviceOf(l.config.on), !l.config.replayed())
	}
	if h := c.Hooks; h != nil && h.DoubleRelease != nil {
		o.DoubleRelease = func(bytes int) { h.DoubleRelease(c.Name, bytes) }
	}
	if !l.config.replayed() {
		o.Leaked = c.leaked
	}
	l.leaks.Open(o)
	if o.Record != nil {
		l.recordPromise()
	}
	return err
}

// leaked is told of each buffer that was forgotten. It warns of the first of a place whose slice may end the program.
func (c Config) leaked(k watch.Leak) {
	if k.First {
		at, how := "", "; with on_forget=report this names the place of its Get"
		if k.Stack != nil {
			at, how = ", got at "+watch.PlaceOf(k.Stack)+",", ""
		}
		c.log().Warn(fmt.Sprintf("slab: a buffer of %d bytes%s was never released, and nothing has its handle any more. "+
			"Its memory is out of use for good; on mmap its pages went back, and a slice of it that is used faults "+
			"(\"unexpected fault address\"; \"bad address\" from a system call). "+
			"Keep the handle as long as the slice, then release it: docs/leaks.md%s", k.Bytes, at, how))
	}
	if h := c.Hooks; h != nil && h.Leaked != nil {
		h.Leaked(c.Name, leakOf(k))
	}
}

// openRecord opens the recording that c asks for. It records processors if they are the machine's.
func openRecord(c Config, on device.Device, processors bool) (*record.Recorder, error) {
	o := record.Options{Processors: processors, Times: true}
	if on != nil {
		o.Device = on.Name()
	}
	if c.RecordSites {
		o.Site = watch.SiteOf
	}
	if c.RecordLast > 0 {
		return record.Last(c.RecordLast, c.Record, o)
	}
	return record.Create(c.Record, o)
}
