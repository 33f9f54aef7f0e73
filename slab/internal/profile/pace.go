// Package profile keeps what a pool has out, by call stack, of a sample of its Gets.
//
//	pace.go      how far apart samples are
//	profile.go   the samples, added up by stack
//	encode.go    the file that go tool pprof reads
package profile

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// A Pace says how many bytes of Gets lie between two samples: at random, Rate on average, so
// that each byte is as likely to be sampled as any other. Where samples would take more than
// share of a processor's time they are set further apart, by powers of two, and each
// counts for more. What was drawn is kept with its scale: whatever the scale is later, a
// sample counts for what it counted for when it was drawn, and estimates are not biased. A nil
// Pace, and one of rate 0, draws no sample. It is safe for concurrent use.
type Pace struct {
	rate  int64
	free  atomic.Int64 // samples that may come at once
	scale atomic.Uint32
	last  atomic.Int64 // when a sample was taken, since began
	takes atomic.Int64 // the least time that a sample took, and leastTakes at least
	began time.Time
	held  bool
}

// A Scale is how often the bytes between samples were doubled when a distance was drawn.
type Scale uint8

const (
	// Never is the scale of a distance at whose end there is no sample.
	Never    Scale = math.MaxUint8
	maxScale       = 24
	// share: from one sample to the next there is at least this many times the time that a sample
	// takes. Where that is the bound they come about twice as far apart, and their Releases take as
	// long again.
	share = 2000
	// leastTakes is for clocks that a sample is too short for.
	leastTakes = 500 * time.Nanosecond
	// stale: samples that came that many times further apart than necessary leave a scale that is not
	// waited for. In a steady flow that is rare, so it adds few samples.
	stale = 8
	// freeSamples are as many as may come at once, when few have come for some seconds. They
	// take about a millisecond. So what a program takes as it begins, and what a short one
	// does, is estimated as well as the rate allows.
	freeSamples = 1024
)

// NewPace returns a Pace of so many bytes between samples.
func NewPace(rate int64) *Pace {
	p := &Pace{rate: rate, began: time.Now()}
	p.free.Store(freeSamples)
	p.takes.Store(int64(time.Hour))
	return p
}

// Hold keeps the scale as it is, for tests. It comes before all other calls.
func (p *Pace) Hold() { p.held = true }

// Draw returns how many bytes to go without a sample, and at what scale. More than most are cut: behind
// most bytes there is none then, and the next distance is to be drawn. A sample is as likely
// from there on as it was before, so a cut changes no estimate.
func (p *Pace) Draw(most int64) (bytes int64, at Scale) {
	if p == nil || p.rate <= 0 {
		return math.MaxInt64, Never
	}
	at = Scale(p.scale.Load())
	if far := rand.ExpFloat64() * p.every(at); far < float64(most) {
		return int64(far), at
	}
	return most, Never
}

// every returns the average of what Draw returns with a scale.
func (p *Pace) every(at Scale) float64 { return math.Ldexp(float64(p.rate), int(at)) }

// Weight returns 1 divided by the probability that a Get of that many bytes is sampled.
func (p *Pace) Weight(bytes int64, at Scale) float64 {
	return -1 / math.Expm1(-float64(bytes)/p.every(at))
}

// Spend adapts the scale to a sample that began at a time and has ended now. What time there
// is makes samples free; one beyond them raises the scale by a step. It falls at once by as many
// steps as the time since the last sample allows.
func (p *Pace) Spend(began time.Time) {
	if p.held {
		return
	}
	now := time.Since(p.began)
	p.adapt(now, share*p.took(now-began.Sub(p.began)), 1)
}

// Ease lowers the scale if the last sample is long ago. It is called at cuts: a distance that was
// drawn in a burst may be gigabytes, which the program does not get for minutes after it.
func (p *Pace) Ease() {
	if p == nil || p.held {
		return
	}
	now, least := time.Since(p.began), share*time.Duration(p.takes.Load())
	if now-time.Duration(p.last.Load()) >= stale*least {
		p.adapt(now, least, 0)
	}
}

// adapt adapts the scale, where samples are to be so far apart at least: to a sample, or to none.
func (p *Pace) adapt(now, least time.Duration, samples int64) {
	since := max(0, now-time.Duration(p.last.Swap(int64(now))))
	free, at := p.free.Load(), p.scale.Load()
	more := int64(since / (2 * least))
	to := at - min(at, uint32(bits.Len64(uint64(more))))
	if samples > 0 && free <= 0 && since < least && at < maxScale {
		to = at + 1
	}
	p.free.CompareAndSwap(free, max(0, min(free+more, freeSamples)-samples))
	p.scale.CompareAndSwap(at, to)
}

// took returns the least time that a sample took so far: more is that of other goroutines.
func (p *Pace) took(now time.Duration) time.Duration {
	least := min(time.Duration(p.takes.Load()), max(now, leastTakes))
	p.takes.Store(int64(least))
	return least
}
