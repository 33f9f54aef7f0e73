package slab

import (
	"errors"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// SetMax sends held memory back where a byte too many is in use, and not before.
func TestSetMaxGivesBackOnlyWhatIsTooMuch(t *testing.T) {
	l := NewLimit(&source{}, 1000)
	p := mustOpen(t, l, withoutClock("exact"))
	mustRelease(t, mustGet(t, p, 300))
	for _, c := range []struct{ max, held int64 }{{2000, 300}, {300, 300}, {299, 0}} {
		check.Must(t, l.SetMax(c.max))
		if s := p.Stats(); s.HeldBytes != c.held {
			t.Errorf("a maximum of %d: %d bytes are held, want %d", c.max, s.HeldBytes, c.held)
		}
	}
	check.Must(t, p.Close())
}

// A Limit is tight while a byte more is in use than its maximum, which may be 0 and may be what was promised.
func TestALimitIsTightByAByte(t *testing.T) {
	top := NewLimit(&source{}, 10)
	l := mustLimit(t, top, 10, 6)
	p := mustOpen(t, l, Config{Strategy: "direct"})
	b := mustAlloc(t, l, 7)
	for max, tight := range map[int64]bool{6: true, 7: false} {
		check.Must(t, l.SetMax(max))
		if is := l.tight.Load() != nil; is != tight || p.pool.isTight() != tight {
			t.Errorf("7 bytes of %d: tight %v, the pool %v", max, is, p.pool.isTight())
		}
	}
	check.Must(t, l.SetMax(7))
	l.Free(b)
	var refused *GuaranteeError
	if err := l.SetMax(5); !errors.As(err, &refused) {
		t.Error("less than was promised:", err)
	}
	l.EndGuarantee()
	check.Must(t, l.SetMax(0))
	if _, err := l.Alloc(1); !outOfMemory(err) {
		t.Error(err)
	}
}

// What comes back to a tight pool whose caches are just being emptied goes upstream afterwards, by one goroutine.
func TestATightPoolFitsOnceItMay(t *testing.T) {
	l := NewLimit(&source{}, 1000)
	p := mustOpen(t, l, withoutClock("exact"))
	for range 2 {
		check.Must(t, l.SetMax(1000))
		b := mustGet(t, p, 300)
		check.Must(t, l.SetMax(200))
		p.pool.reclaimMu.Lock()
		mustRelease(t, b)
		if p.pool.fit(); l.InUse() != 300 || !p.pool.fitting.Load() {
			t.Errorf("%d in use, a goroutine waits: %v", l.InUse(), p.pool.fitting.Load())
		}
		p.pool.reclaimMu.Unlock()
		eventually(t, "it fits", func() bool { return l.InUse() == 0 && !p.pool.isTight() && !p.pool.fitting.Load() })
	}
	check.Must(t, p.Close())
}
