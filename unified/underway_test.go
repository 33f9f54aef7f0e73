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

// Free of a buffer that a stream works on without its knowledge is reported by slab pools with check, with the
// place of the Free; what is told by DeviceOn or UsedOn is not.
func TestFreeBeforeWorkIsDoneIsReported(t *testing.T) {
	for _, told := range []bool{true, false} {
		d := sim.New(1 << 20)
		d.Late(3)
		s := check.Ok(d.NewStream())(t)
		p := check.Ok(slab.Open(d, slab.Config{Check: true, Logger: slog.New(slog.DiscardHandler)}))(t)
		b := check.Ok(unified.Acquire[byte](unified.NewPoolOn(nil, p, unified.PoolConfig{}), 1000))(t)
		if told {
			x := check.Ok(b.DeviceMutOn(s))(t)
			check.Must(t, s.Fill(x, 1))
		} else {
			x := check.Ok(b.DeviceMut())(t)
			check.Must(t, s.Fill(x, 1))
		}
		check.Must(t, b.Free())
		var e *slab.CheckError
		if err := p.Close(); errors.As(err, &e) == told || e != nil && !strings.Contains(e.Error(), "underway_test.go:") {
			t.Errorf("told: %t, and Close says %v", told, err)
		}
	}
}
