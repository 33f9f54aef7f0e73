package growpool

import (
	"slices"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// A closing stream closes the pool when it is to wait.
type closing struct {
	gated
	pool *Pool[string]
}

func (c closing) Wait(device.Event) error { return c.pool.Close() }

// An AcquireOn beside Close gets nothing, though its stream has waited for the one before.
func TestCloseBesideAStreamThatWaits(t *testing.T) {
	p := New[string](openSlab(t, "device=mmap"), Config{})
	s := useFor(t, p, "k")
	defer close(s.gate.open)
	check.Wraps(t, check.Err(AcquireOn[byte](t.Context(), p, "k", closing{newGated(), p}, 100)), ErrClosed)
	if u, n := p.MemoryUsage(), p.leases.Load(); u.HeldBytes != 0 || n != 0 {
		t.Errorf("%+v, and %d leases are out", u, n)
	}
}

// A buffer knows each stream once, however often and in whatever order it is named.
func TestABufferKnowsEachStreamOnce(t *testing.T) {
	p := open(t, Config{})
	l := acquire[byte](t, p, "k", 10)
	a, b := newGated(), newGated()
	for _, s := range []device.Stream{a, b, a, b, b, a} {
		check.Must(t, l.UsedOn(s))
	}
	if list := l.lent.uses.named(); !slices.Equal(list, []device.Stream{a, b}) {
		t.Errorf("%d streams", len(list))
	}
	close(a.gate.open)
	close(b.gate.open)
	release(t, l)
}
