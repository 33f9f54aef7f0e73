package watch

import (
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/profile"
)

// A Sampler keeps the samples of Gets that have not been released, by stack. Which Gets are sampled
// the caches decide, by its Pace.
type Sampler struct {
	off     bool
	Pace    *profile.Pace
	Samples profile.Profile
}

// Open has a Sampler take one sample in rate bytes on average, none if rate is not above 0. It
// returns the pace of that.
func (f *Sampler) Open(rate int64) *profile.Pace {
	f.off, f.Pace = rate <= 0, profile.NewPace(rate)
	return f.Pace
}

// Sample enters a buffer of n bytes that no one else has yet, which stands for so many Gets.
func (f *Sampler) Sample(s *handle.Slot, n int, stands float64) {
	began := time.Now()
	var stack profile.Stack
	runtime.Callers(2, stack[:])
	s.SetSampled()
	f.Samples.Add(s.ID(), &stack, n, stands)
	f.Pace.Spend(began)
}

// Released takes the owner of s out, whose generation has ended.
func (f *Sampler) Released(s *handle.Slot) {
	if s.TakeSampled() {
		f.Samples.Remove(s.ID())
	}
}

// Forgotten counts the owner of s as leaked.
func (f *Sampler) Forgotten(s *handle.Slot) {
	if s.TakeSampled() {
		f.Samples.Forget(s.ID())
	}
}

// Records lists the samples by stack, nil if none are taken. Their sums are those given: of what is
// out, and of what was forgotten. Where no sample is of what is out, the past says who has it.
func (f *Sampler) Records(out, forgotten handle.Tally) []profile.Record {
	if f.off {
		return nil
	}
	list := f.Samples.Records()
	if !slices.ContainsFunc(list, func(r profile.Record) bool { return r.InUse != profile.Amount{} }) {
		list = append(f.Samples.Past(), list...) // those without a stack stay last
	}
	return profile.Fit(list, out, forgotten)
}

// SampledLeaks is List by samples: an entry for each stack.
func SampledLeaks(records []profile.Record) (list []Leak) {
	var leaked []Leak
	for _, r := range records {
		if r.Stack != nil { // else no one knows where
			list = appendSampled(list, Leak{Stack: r.Stack}, r.InUse)
			leaked = appendSampled(leaked, Leak{Stack: r.Stack, Forgotten: true}, r.Leaked)
		}
	}
	SortLeaks(list)
	SortLeaks(leaked)
	return append(list, leaked...)
}

func appendSampled(list []Leak, l Leak, a profile.Amount) []Leak {
	l.Bytes, l.Sampled = int(min(a.Bytes, math.MaxInt)), a.Objects() // what has leaked only grows
	if l.Sampled == 0 {
		return list
	}
	return append(list, l)
}
