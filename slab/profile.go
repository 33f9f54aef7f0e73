package slab

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/profile"
)

// The profile of what a pool has out. Which Gets are sampled is decided in
// slab/internal/percpu/sample.go.

// WriteProfile writes what the pool has out, by the stacks of the Gets, in the format of
// go tool pprof: inuse_space and inuse_objects, and as leaked_space and leaked_objects the
// buffers that the collector has found forgotten, which are in use no more. A part is no
// buffer of its own; a buffer is in use until its last handle is gone.
//
// Who has how much is estimated from samples, one in Config.ProfileRate bytes of the Gets on
// average; docs/leaks.md says how close that is. The sums are those of Stats. The innermost calls, within this package and
// its adapters, are left out. Stacks beyond some 4,000 that have something are added up in one.
// Where ProfileRate is off the profile is empty. It works while the pool is in use, and after
// Close. The error is that of w.
func (p *Pool) WriteProfile(w io.Writer) error {
	q := p.opened()
	f := profile.File{
		Rate: max(0, q.config.ProfileRate), Time: time.Now(), Comment: cmp.Or(q.config.given.String(), q.config.Name),
		Hidden: isHidden, Records: q.sampled(),
	}
	return f.Write(w)
}

// sampled lists what the pool has out, and what was found forgotten, by stack. The sums are
// those that it has counted.
func (p *pool) sampled() []profile.Record {
	if p.profile.off {
		return nil
	}
	list := p.profile.samples.Records()
	forgotten, _, _ := p.leaks.counts()
	return profile.Fit(list, active(p.cache.Usage(), forgotten), forgotten)
}

// A profiler takes samples of Gets.
type profiler struct {
	off     bool
	pace    *profile.Pace
	samples profile.Profile
}

func (f *profiler) open(c *settings) *profile.Pace {
	rate := c.ProfileRate
	if c.replayed() { // which has to repeat
		rate = 0
	}
	f.off, f.pace = rate <= 0, profile.NewPace(rate)
	return f.pace
}

// sample enters a buffer that no one else has yet.
func (f *profiler) sample(b PooledBuffer, stands float64) {
	began := time.Now()
	var stack profile.Stack
	runtime.Callers(2, stack[:])
	b.slot.SetSampled()
	f.samples.Add(b.slot.ID(), &stack, b.n, stands)
	f.pace.Spend(began)
}

// release takes the owner of s out, whose generation has ended.
func (f *profiler) release(s *handle.Slot) {
	if s.TakeSampled() {
		f.samples.Remove(s.ID())
	}
}

// forget counts the owner of s as leaked.
func (f *profiler) forget(s *handle.Slot) {
	if s.TakeSampled() {
		f.samples.Forget(s.ID())
	}
}

// sampledLeaks is leakLog.list by samples: an entry for each stack.
func (p *pool) sampledLeaks() (list []Leak) {
	var leaked []Leak
	for _, r := range p.sampled() {
		if r.Stack != nil { // else no one knows where
			site := siteOf(r.Stack)
			list = appendSampled(list, Leak{Site: site}, r.InUse)
			leaked = appendSampled(leaked, Leak{Site: site, Forgotten: true}, r.Leaked)
		}
	}
	sortLeaks(list)
	sortLeaks(leaked)
	return append(list, leaked...)
}

func appendSampled(list []Leak, l Leak, a profile.Amount) []Leak {
	l.Bytes, l.Sampled = int(min(a.Bytes, math.MaxInt)), a.Objects() // what has leaked only grows
	if l.Sampled == 0 {
		return list
	}
	return append(list, l)
}

// caller returns file:line of the first caller outside this package, its parts and the adapters.
func caller() string {
	var pc [16]uintptr
	return siteOf(pc[:runtime.Callers(2, pc[:])])
}

// siteOf returns file:line of the first call in a stack that is outside this package, its
// parts, and the adapters in front of it.
func siteOf(stack []uintptr) string {
	frames := runtime.CallersFrames(stack)
	for {
		f, more := frames.Next()
		if !isHidden(f) || !more {
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
	}
}

// isHidden reports whether a frame is not where a program got its buffer.
func isHidden(f runtime.Frame) bool {
	return isOurs(f.Function) && !strings.HasSuffix(f.File, "_test.go")
}

// isOurs reports whether a function is none whose calls of Get tell a user anything.
func isOurs(function string) bool {
	return strings.Contains(function, "bufslab/slab.") || strings.Contains(function, "bufslab/slab/internal/") ||
		strings.Contains(function, "bufslab/adapt.")
}
