package profile

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// A countdown samples Gets as class caches do.
type countdown struct {
	*Pace
	left  int64
	scale Scale
}

func startCountdown(p *Pace) *countdown {
	c := &countdown{Pace: p}
	c.left, c.scale = p.Draw(mostLeft)
	return c
}

// get returns what a Get stands for, 0 if it is not sampled.
func (c *countdown) get(bytes int64) (stands float64) {
	if c.left -= bytes; c.left >= 0 {
		return 0
	}
	if c.scale == Never {
		c.Ease()
		rest := -c.left
		if c.left, c.scale = c.Draw(rest + mostLeft); c.left >= rest {
			c.left -= rest
			return 0
		}
	}
	stands = c.Weight(bytes, c.scale)
	c.left, c.scale = c.Draw(mostLeft)
	return stands
}

// mostLeft is so few that most distances are cut.
const mostLeft = 1 << 18

// The mean of estimates is what there is, whatever the sizes are beside the rate, and also
// where the scale changes all the time.
func TestEstimatesAreNotBiased(t *testing.T) {
	for _, size := range []int64{1 << 10, 100 << 10, 512 << 10, 10 << 20} {
		for _, scales := range []uint32{1, 3} {
			p := NewPace(512 << 10)
			p.Hold()
			c := startCountdown(p)
			const n = 500_000
			var found float64
			for i := range n {
				if i%1000 == 0 {
					p.scale.Store(rand.Uint32N(scales))
				}
				found += c.get(size)
			}
			if most := 6 * math.Sqrt(n*p.Weight(size, Scale(scales-1))); math.Abs(found-n) > most {
				t.Errorf("%d bytes, %d scales: %.0f found of %d", size, scales, found, n)
			}
		}
	}
}

func TestNothingIsSampledWhereTheRateIsOff(t *testing.T) {
	for name, p := range map[string]*Pace{"nil": nil, "0": NewPace(0), "-1": NewPace(-1)} {
		if bytes, scale := p.Draw(1); bytes != math.MaxInt64 || scale != Never {
			t.Errorf("rate %s: %d bytes at scale %d", name, bytes, scale)
		}
	}
}

// At a rate of 1 nearly each Get is sampled.
func TestARateOfOne(t *testing.T) {
	if bytes, scale := NewPace(1).Draw(math.MaxInt64); scale != 0 || bytes > 1000 {
		t.Errorf("%d bytes at scale %d", bytes, scale)
	}
}

// However many Gets there are, samples take less than their share of the time. When there are
// fewer Gets, each is sampled again that the rate asks for.
func TestSamplesTakeLittleTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startCountdown(NewPace(1000))
		const takes = 50 * time.Microsecond
		run := func(gets int, between time.Duration) (samples int, spent float64) {
			began := time.Now()
			for range gets {
				time.Sleep(between)
				if c.get(1000) > 0 {
					samples++
					at := time.Now()
					time.Sleep(takes)
					c.Spend(at)
				}
			}
			return samples, float64(samples) * float64(takes) / float64(time.Since(began))
		}
		if n, _ := run(2*freeSamples, 10*time.Microsecond); n < freeSamples || n > freeSamples+50 {
			t.Errorf("%d samples before there are fewer", n)
		}
		if n, spent := run(100_000, time.Millisecond); n < 400 || spent > 1./share { // there is time for 1000
			t.Errorf("%d samples took %.3f %% of the time", n, 100*spent)
		}
		// At the end of each distance the scale falls by three steps, but the next distance is drawn before
		// that. So this many reach scale 0 from any scale, and draw a distance there.
		for range maxScale/3 + 1 {
			run(1+int(c.left/1000), time.Second)
		}
		if n, _ := run(1000, time.Second); n < 500 {
			t.Errorf("%d samples of 1000 though there was time", n)
		}
	})
}

// What was drawn stands for what it stood for when it was drawn.
func TestAScaleIsThatOfItsDistance(t *testing.T) {
	p := NewPace(1000)
	_, before := p.Draw(math.MaxInt64)
	p.scale.Store(3)
	_, after := p.Draw(math.MaxInt64)
	if before != 0 || after != 3 || p.every(before) != 1000 || p.every(after) != 8000 {
		t.Errorf("scales %d and %d, %f and %f bytes", before, after, p.every(before), p.every(after))
	}
}

// What a sample takes is the least that one took: more is the time of other goroutines. A clock
// that it is too short for does not make it take nothing.
func TestASampleTakesTheLeastTime(t *testing.T) {
	p := NewPace(1000)
	for _, c := range []struct{ now, want time.Duration }{
		{time.Second, time.Second}, {time.Microsecond, time.Microsecond}, {time.Minute, time.Microsecond}, {0, leastTakes}, {time.Second, leastTakes},
	} {
		if d := p.took(c.now); d != c.want {
			t.Errorf("%v after a sample of %v, want %v", d, c.now, c.want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		p := NewPace(1000)
		time.Sleep(time.Hour)
		began := time.Now()
		time.Sleep(time.Millisecond)
		if p.Spend(began); p.takes.Load() != int64(time.Millisecond) {
			t.Errorf("a sample of a millisecond took %v", time.Duration(p.takes.Load()))
		}
	})
}

// A sample uses up a free one, or sets samples further apart if it came too early. Time that was left makes samples free
// again, and sets them closer together, by a step each time that it is twice as long.
func TestTimeIsSpent(t *testing.T) {
	const least = time.Microsecond
	type state struct {
		free  int64
		scale uint32
	}
	for _, c := range []struct {
		before  state
		since   time.Duration
		samples int64
		want    state
	}{
		{state{5, 3}, 0, 1, state{4, 3}},
		{state{1, 3}, 0, 1, state{0, 3}},
		{state{0, 3}, 0, 1, state{0, 4}},
		{state{0, 3}, least - 1, 1, state{0, 4}},
		{state{0, 3}, least, 1, state{0, 3}},
		{state{0, maxScale - 1}, 0, 1, state{0, maxScale}},
		{state{0, maxScale}, 0, 1, state{0, maxScale}},
		{state{0, 3}, 2*least - 1, 1, state{0, 3}},
		{state{0, 3}, 2 * least, 1, state{0, 2}},
		{state{0, 3}, 8 * least, 1, state{3, 0}},
		{state{0, 3}, time.Hour, 1, state{freeSamples - 1, 0}},
		{state{freeSamples, 0}, time.Hour, 1, state{freeSamples - 1, 0}},
		{state{0, 3}, 0, 0, state{0, 3}},
		{state{0, 3}, 2 * least, 0, state{1, 2}},
	} {
		p := NewPace(1000)
		const now = 2 * time.Hour
		p.free.Store(c.before.free)
		p.scale.Store(c.before.scale)
		p.last.Store(int64(now - c.since))
		p.adapt(now, least, c.samples)
		if got := (state{p.free.Load(), p.scale.Load()}); got != c.want || p.last.Load() != int64(now) {
			t.Errorf("%+v, %d samples after %v: %+v, want %+v", c.before, c.samples, c.since, got, c.want)
		}
	}
}

// A Pace that is held keeps its scale, whatever is sampled and however long nothing is.
func TestAHeldPaceKeepsItsScale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for hold, want := range map[bool]uint32{true: 3, false: 0} {
			p := NewPace(1000)
			if hold {
				p.Hold()
			}
			p.free.Store(0)
			p.scale.Store(3)
			if p.Spend(time.Now()); p.scale.Load() == 3 != hold {
				t.Errorf("held %v: scale %d after a sample", hold, p.scale.Load())
			}
			time.Sleep(time.Hour)
			if p.Ease(); p.scale.Load() != want {
				t.Errorf("held %v: scale %d after an hour", hold, p.scale.Load())
			}
		}
	})
}

// A burst leaves a distance that a quiet program would not get through for hours. A cut makes it short
// again.
func TestABurstLeavesNoLongDistance(t *testing.T) {
	for _, cut := range []int64{mostLeft, math.MaxInt64} { // which is none
		synctest.Test(t, func(t *testing.T) {
			p := NewPace(1000)
			p.free.Store(0)
			p.scale.Store(maxScale)
			p.took(leastTakes)
			c := &countdown{Pace: p, left: math.MaxInt64, scale: 0} // a distance that a burst drew
			if cut == mostLeft {
				c.left, c.scale = mostLeft, Never
			}
			time.Sleep(10 * time.Hour)
			samples := 0
			for range 2000 {
				if c.get(1000) > 0 {
					samples++
				}
			}
			if cut == mostLeft && samples < 500 || cut != mostLeft && samples > 0 {
				t.Errorf("cut behind %d bytes: %d samples of 2000", cut, samples)
			}
		})
	}
}

// A look at a time soon after a sample changes nothing, nor one where the rate is off.
func TestEaseNeedsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPace(1000)
		p.took(leastTakes)
		p.scale.Store(9)
		time.Sleep(stale*share*leastTakes - 1)
		if p.Ease(); p.scale.Load() != 9 {
			t.Errorf("scale %d too soon", p.scale.Load())
		}
		time.Sleep(time.Nanosecond)
		if p.Ease(); p.scale.Load() != 6 || p.free.Load() != freeSamples { // 4 times as far apart as 2 of the least
			t.Errorf("scale %d, %d samples are free", p.scale.Load(), p.free.Load())
		}
		time.Sleep(stale*share*leastTakes - 1)
		p.Ease() // too soon, and not as if it were a sample
		time.Sleep(time.Nanosecond)
		if p.Ease(); p.scale.Load() != 3 {
			t.Errorf("then scale %d", p.scale.Load())
		}
		(*Pace)(nil).Ease()
	})
}
