package clock

import (
	"testing"
	"time"
)

// A Clock tells the most of the last minute, and forgets it within ten seconds more, however often it ticks. A moment
// between two ticks counts.
func TestMinute(t *testing.T) {
	for _, trim := range []time.Duration{0, 4 * time.Millisecond, 4 * time.Second, 10 * time.Second, time.Hour} {
		var k Clock
		var now, moment time.Duration
		peak, most := int64(7), int64(0)
		k.Set(Options{
			Trim: trim, Usage: func() (calls, managed int64) { return 0, 0 }, Release: func(int) {},
			Peak: func() int64 { n := peak; peak = 1; return n },
			Keep: func(n int64) { most = n },
		})
		for ; now < 3*time.Minute; now += k.every {
			if k.tick(); now-moment <= time.Minute && most != 7 || now-moment > time.Minute+2*bucket && most != 1 {
				t.Fatalf("trim_after=%v: after %v it is %d", trim, now-moment, most)
			}
			if moment == 0 && now > 100*time.Second {
				peak, moment = 7, now+k.every
			}
		}
		if k.every > bucket {
			t.Errorf("trim_after=%v: a tick takes %v", trim, k.every)
		}
	}
}

// A replay that jumps by an hour forgets the minute before, too, also of a pool that is idle long before, and however
// often it ticks.
func TestAdvanceForgetsTheMinute(t *testing.T) {
	for _, idle := range []time.Duration{0, time.Second, time.Minute} {
		var k Clock
		var most int64
		peak := int64(7)
		k.Set(Options{
			Idle: idle, Usage: func() (calls, managed int64) { return 0, 0 }, Release: func(int) {},
			Peak: func() int64 { n := peak; peak = 0; return n }, Keep: func(n int64) { most = n },
		})
		if k.Advance(int64(bucket)); most != 7 {
			t.Errorf("idle_after=%v: %d after a bucket", idle, most)
		}
		if k.Advance(int64(time.Hour)); most != 0 {
			t.Errorf("idle_after=%v: %d an hour later", idle, most)
		}
	}
}
