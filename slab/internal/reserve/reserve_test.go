package reserve

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstream"
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
		{"", 0}, {"1", 1}, {"1KiB", 1024}, {"2MiB", most}, {"learned:" + file, 5050}, {"learned:" + file + "x", 0},
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
	if r, err := Of(fmt.Sprint(upstream.MaxSize), math.MaxInt64); err != nil || r.bytes != int64(upstream.MaxSize) {
		t.Errorf("%+v, %v for as much as may be asked for", r, err)
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

// A reserve is a size or a file, and nothing else.
func TestTextsOfReserves(t *testing.T) {
	for text, want := range map[string]struct {
		valid bool
		file  string
		size  int64
	}{
		"":                                      {},
		"0":                                     {},
		"1":                                     {true, "", 1},
		"1KiB":                                  {true, "", 1024},
		"-1":                                    {},
		"x":                                     {},
		"learned:":                              {},
		"learned:x":                             {true, "x", 0},
		"learned:1KiB":                          {true, "1KiB", 0},
		fmt.Sprint(upstream.MaxSize):            {true, "", int64(upstream.MaxSize)},
		fmt.Sprint(int64(upstream.MaxSize) + 1): {},
	} {
		if Valid(text) != want.valid || File(text) != want.file || Size(text) != want.size {
			t.Errorf("%q: valid %v, file %q, %d bytes", text, Valid(text), File(text), Size(text))
		}
	}
}

// growing is a heap whose reserves extend.
type growing struct{ heap }

func (*growing) Extends(int) bool { return true }

// A reserve of one piece keeps blocks from a part of the budget, unless it is a small part, all of it, or extends. A user
// is told of that; what was learned is left out.
func TestAReserveThatStrands(t *testing.T) {
	const most = 1600
	for _, c := range []struct {
		bytes, most int64
		strands     bool
	}{
		{100, most, false}, {101, most, true}, {1599, most, true}, {1600, most, false}, {1599, math.MaxInt64, false},
	} {
		for _, wanted := range []bool{true, false} {
			r, h, g := Reserve{bytes: c.bytes, wanted: wanted}, &heap{}, &growing{}
			err := r.Take(h, c.most)
			if errors.Is(err, ErrStrands) != (c.strands && wanted) || (h.n == 0) != c.strands {
				t.Errorf("%d of %d bytes, wanted %v: %v, %d bytes taken", c.bytes, c.most, wanted, err, h.n)
			}
			if err := r.Take(g, c.most); err != nil || int64(g.n) != c.bytes {
				t.Errorf("%d of %d bytes that extend: %v, %d bytes taken", c.bytes, c.most, err, g.n)
			}
		}
	}
}

// A pool that wants no reserve takes none, and one that learns writes its peak at the end.
func TestFinishWritesThePeak(t *testing.T) {
	h := &heap{err: errors.New("asked for nothing")}
	if err := (Reserve{}).Take(h, 100); err != nil || (Reserve{}).Finish(h) != nil {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "peak")
	r, err := Of("learned:"+file, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Finish(h)(); err != nil {
		t.Fatal(err)
	}
	for most, want := range map[int64]int64{math.MaxInt64: 7070, 7000: 7000} {
		if r, err = Of("learned:"+file, most); err != nil || r.bytes != want {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if err := os.WriteFile(file, []byte("no peak"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Of("learned:"+file, math.MaxInt64); err == nil {
		t.Error("a file without a peak is no error")
	}
}
