package reserve

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// A heap notes what it was filled with.
type heap struct {
	n   int
	err error
}

func (h *heap) Prefill(n int) error { h.n = n; return h.err }
func (h *heap) Extends(int) bool    { return false }
func (h *heap) PeakUsed() int64     { return 7000 }

func TestOf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "peak")
	if err := os.WriteFile(file, []byte("bufslab peak 1 5000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const most = 1 << 20
	for _, c := range []struct {
		text string
		want int
	}{
		{"", 0}, {"1KiB", 1024}, {"2MiB", most}, {"learned:" + file, 5050}, {"learned:" + file + "x", 0},
	} {
		r, err := Of(c.text, most)
		h := &heap{}
		if err := errors.Join(err, r.Take(h, math.MaxInt64)); err != nil || h.n != c.want {
			t.Errorf("%q: %d bytes, want %d, %v", c.text, h.n, c.want, err)
		}
		if (r.Finish(h) != nil) != (len(c.text) > 8 && c.text[:8] == prefix) {
			t.Errorf("%q writes a peak, or does not", c.text)
		}
	}
	if err := os.WriteFile(file, fmt.Appendf(nil, "bufslab peak 1 %d\n", int64(math.MaxInt64/2)), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := Of("learned:"+file, math.MaxInt64); err != nil || r.bytes != 0 {
		t.Errorf("%+v, %v for more than any device has", r, err)
	}
}

// Only a user who has said how much is told that there is no room; of other errors everybody.
func TestTakeWithoutRoom(t *testing.T) {
	file := filepath.Join(t.TempDir(), "peak")
	if err := os.WriteFile(file, []byte("bufslab peak 1 5000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, told := range map[string]bool{"1KiB": true, "learned:" + file: false} {
		r, _ := Of(text, 1<<20)
		if err := r.Take(&heap{err: device.ErrOutOfMemory}, math.MaxInt64); (err != nil) != told {
			t.Errorf("%q: %v", text, err)
		}
		if err := r.Take(&heap{err: device.ErrDeviceLost}, math.MaxInt64); !errors.Is(err, device.ErrDeviceLost) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
