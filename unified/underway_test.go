package unified_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

// Free of a buffer that a stream works on without its knowledge is reported by slab pools with check, once, with the
// place of the Free; so is Release to a pool that keeps the array, or that does not. What is told by DeviceOn or UsedOn
// is not.
func TestFreeBeforeWorkIsDoneIsReported(t *testing.T) {
	for name, c := range map[string]struct {
		keep int // unified.PoolConfig.MaxBuffers
		end  func(*unified.Buffer[byte]) error
	}{
		"Free":              {0, (*unified.Buffer[byte]).Free},
		"Release":           {0, (*unified.Buffer[byte]).Release},
		"Release, not kept": {-1, (*unified.Buffer[byte]).Release},
	} {
		for _, told := range []bool{true, false} {
			d := sim.New(1 << 20)
			d.Late(3)
			s := check.Ok(d.NewStream())(t)
			p := check.Ok(slab.Open(d, slab.Config{Check: true, Logger: slog.New(slog.DiscardHandler)}))(t)
			u := unified.NewPoolOn(nil, p, unified.PoolConfig{MaxBuffers: c.keep})
			b := check.Ok(unified.Acquire[byte](u, 1000))(t)
			if told {
				x := check.Ok(b.DeviceMutOn(s))(t)
				check.Must(t, s.Fill(x, 1))
			} else {
				x := check.Ok(b.DeviceMut())(t)
				check.Must(t, s.Fill(x, 1))
			}
			check.Must(t, c.end(b), s.Sync())
			u.Clear()
			var e *slab.CheckError
			if err := p.Close(); errors.As(err, &e) == told || e != nil && (len(e.Faults) != 1 || !strings.Contains(e.Error(), "underway_test.go:")) {
				t.Errorf("%s, told: %t, and Close says %v", name, told, err)
			}
		}
	}
}
