package clock

import (
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A pool is what a Clock asks and tells.
type pool struct {
	Clock
	calls, managed int64
	ticks          int
	released       []int // what each Release was told
}

func newPool(trim, idle time.Duration) *pool {
	p := &pool{managed: 1}
	p.Set(Options{
		Trim: trim, Idle: idle,
		Usage:   func() (calls, managed int64) { p.ticks++; return p.calls, p.managed },
		Release: func(idle int) { p.released = append(p.released, idle) },
	})
	return p
}

// times are the two times of a Clock.
var times = []struct{ trim, idle time.Duration }{
	{time.Second, 0}, {0, time.Second}, {time.Second, time.Second}, {time.Second, time.Minute}, {time.Minute, time.Second},
	{1, 0}, {0, 1}, {3, 7}, {7, 3}, {1001, 0}, {0, 1001}, {1003, 4002},
}

// A Clock ticks within the shorter of its times, if it has one, and its ticks are as long as its times: no tick less, and
// no more. A time of 0 has none.
func TestTicksAreAsLongAsTheTimes(t *testing.T) {
	if p := newPool(0, 0); p.Ticks() {
		t.Error("a Clock without a time ticks")
	}
	for _, c := range times {
		p := newPool(c.trim, c.idle)
		if !p.Ticks() {
			t.Errorf("%v: no ticks", c)
			continue
		}
		for _, in := range []struct {
			time  time.Duration
			ticks int
		}{{c.trim, p.trim}, {c.idle, p.idle}} {
			all := time.Duration(in.ticks) * p.every
			if all < in.time || all >= in.time+p.every || in.time > 0 && p.every > max(1, in.time/2) {
				t.Errorf("%v: %d ticks of %v for %v", c, in.ticks, p.every, in.time)
			}
		}
	}
}

// All goes back at each tick from a pool that was not used for its idle time; before, only what was held untouched. A
// use begins that time anew.
func TestAPoolIsIdleAfterItsTime(t *testing.T) {
	for _, c := range times {
		p := newPool(c.trim, c.idle)
		untouched := p.trim
		if c.trim == 0 {
			untouched = math.MaxInt
		}
		now := int64(0)
		for range 3 {
			p.calls++
			used := now
			for range 2*p.idle + 20 {
				now += int64(p.every)
				p.released = nil
				p.Advance(now)
				early, late := now-used < int64(c.idle), now-used >= int64(c.idle+p.every)
				isIdle := slices.Equal(p.released, []int{0})
				if !isIdle && !slices.Equal(p.released, []int{untouched}) {
					t.Fatalf("%v: a tick released %v", c, p.released)
				}
				if isIdle && (early || c.idle == 0) || !isIdle && late && c.idle > 0 {
					t.Fatalf("%v: idle %t after %d ns", c, isIdle, now-used)
				}
			}
		}
	}
}

// A pool that has nothing is told nothing, idle or not.
func TestNothingIsGivenBackOfNothing(t *testing.T) {
	p := newPool(time.Second, 3*time.Second)
	p.managed = 0
	for now := int64(0); now < int64(10*time.Second); now += int64(p.every) {
		p.Advance(now)
	}
	if p.released != nil || p.ticks == 0 {
		t.Errorf("%d ticks released %v", p.ticks, p.released)
	}
}

// In a replay each tick that is due happens once, however time goes on.
func TestEachTickHappensOnce(t *testing.T) {
	p := newPool(time.Second, 0)
	every := int64(p.every)
	for _, now := range []int64{0, every - 1, every, every, every + 1, 3*every - 1, every, 3 * every, 5*every + 2, 6*every - 1, 6 * every} {
		if p.Advance(now); int64(p.ticks) < now/every {
			t.Fatalf("%d ticks of %d ns by %d", p.ticks, every, now)
		}
	}
	if p.ticks != 6 {
		t.Errorf("%d ticks by %d ns, each of %d", p.ticks, 6*every, every)
	}
}

// A replay that jumps by a day has as many ticks as the pool needs to give all back, and hardly more. The next tick is
// due as if there had been all.
func TestAJumpIsAFewTicks(t *testing.T) {
	for _, c := range times {
		p := newPool(c.trim, c.idle)
		day := int64(24 * time.Hour / p.every * p.every)
		p.calls++
		p.Advance(day)
		enough := p.idle + 1 // the first one sees the use
		if c.idle == 0 {
			enough = p.trim + 1
		}
		if p.ticks < enough || p.ticks > p.trim+p.idle+3 {
			t.Errorf("%v: %d ticks, of which %d+%d matter", c, p.ticks, p.trim, p.idle)
		}
		before := p.ticks
		if p.Advance(day + int64(p.every) - 1); p.ticks != before {
			t.Errorf("%v: a tick before its time", c)
		}
		if p.Advance(day + int64(p.every)); p.ticks != before+1 {
			t.Errorf("%v: %d ticks where one is due", c, p.ticks-before)
		}
	}
}

// A Clock that was started ticks by the time until it is stopped, or until its owner is not open.
func TestAClockTicksWhileItsOwnerIsOpen(t *testing.T) {
	clockOf := func(p *pool) *Clock { return &p.Clock }
	synctest.Test(t, func(t *testing.T) {
		p := newPool(time.Second, 0)
		var closed atomic.Bool
		var asked atomic.Int32
		start := func() {
			Start(&p.Clock, p, clockOf, func(*pool) bool { asked.Add(1); return !closed.Load() })
		}
		wait := func(ticks int) {
			time.Sleep(time.Duration(ticks)*p.every + 1)
			synctest.Wait()
		}
		start()
		if wait(10); p.ticks != 10 {
			t.Errorf("%d ticks where 10 were due", p.ticks)
		}
		closed.Store(true)
		asked.Store(0)
		if wait(10); p.ticks != 10 || asked.Load() != 1 {
			t.Errorf("%d ticks after the owner was closed, which was asked %d times", p.ticks-10, asked.Load())
		}
		closed.Store(false)
		start()
		p.Stop()
		if wait(10); p.ticks != 10 {
			t.Errorf("%d ticks after Stop", p.ticks-10)
		}
		p = newPool(0, 0) // has nothing to do
		start()
		p.Stop()
		if p.timer != nil {
			t.Error("a Clock without a time runs")
		}
	})
}
