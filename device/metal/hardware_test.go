package metal

import (
	"errors"
	"math"
	"os"
	"runtime"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/base"
)

// answering is a Metal whose objects all give the same answers, and nil none.
func answering(answers map[selector]uintptr) *api {
	const first = 100
	a := &api{send: 1}
	for i := range a.sel {
		a.sel[i] = first + uintptr(i)
	}
	a.call = func(fn uintptr, args ...uintptr) (r1, r2, errno uintptr) {
		if fn == a.send && args[0] != 0 {
			r1 = answers[selector(args[1]-first)]
		}
		return r1, 0, 0
	}
	return a
}

// A BOOL is one byte of a register, whatever the others have. Figures that no int64 has are the largest.
func TestAnswersOfAGPU(t *testing.T) {
	for says, want := range map[uintptr]bool{0: false, 1: true, 0x100: false, 0xff00: false, 0x1201: true} {
		if h := answering(map[selector]uintptr{selUnified: says}).describe(7, 3); h.Unified != want || h.Name != "metal:3" {
			t.Errorf("%#x: %+v", says, h.Info)
		}
	}
	all := ^uintptr(0)
	if unsafe.Sizeof(all) < 8 {
		return
	}
	for _, c := range []struct {
		recommended, allocated uintptr
		free, total            int64
	}{
		{10, 4, 6, 10}, {10, 10, 0, 10}, {10, 11, 0, 10}, {10, all, 0, 10}, {all, 1, math.MaxInt64 - 1, math.MaxInt64},
	} {
		h := answering(map[selector]uintptr{selRecommended: c.recommended, selAllocated: c.allocated, selLongest: all}).describe(7, 0)
		if free, total := h.memInfo(); free != c.free || total != c.total || h.MaxBytes != math.MaxInt64 {
			t.Errorf("%+v: %d of %d, and %d at once", c, free, total, h.MaxBytes)
		}
	}
}

// A region takes whole pages of what is left, and is as long as the GPU takes.
func TestRoomIsOfPages(t *testing.T) {
	page := os.Getpagesize()
	for _, c := range []struct {
		size, left, longest int
		fits                bool
	}{
		{2 * page, 2 * page, 2 * page, true}, {1, page, page, true}, {2*page + 1, 9 * page, 2 * page, false},
		{1, page - 1, page, false}, {page + 1, 2*page - 1, 9 * page, false}, {page + 1, 2 * page, 9 * page, true},
		{math.MaxInt, 9 * page, math.MaxInt, false},
	} {
		h := &hardware{gpu: 7, api: answering(map[selector]uintptr{selAllocated: 5 * uintptr(page)})}
		h.RecommendedBytes, h.MaxBytes = int64(5*page+c.left), int64(c.longest)
		d := &Device{base: base.Named("metal", "metal:0"), hw: h}
		if err := d.hasRoom(c.size); (err == nil) != c.fits || err != nil && !errors.Is(err, device.ErrOutOfMemory) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for n, want := range map[int]int{1: 1, page - 1: 1, page: 1, page + 1: 2, 3 * page: 3} {
		if whole(n) != want*page {
			t.Errorf("%d bytes take %d", n, whole(n))
		}
	}
}

// Work that failed has a code, also if Metal does not say for what, and its text.
func TestOutcome(t *testing.T) {
	why := []byte("why\x00not\x00")
	var pin runtime.Pinner
	pin.Pin(&why[0])
	defer pin.Unpin()
	at := uintptr(unsafe.Pointer(&why[0]))
	for _, c := range []struct {
		status, error, code, text uintptr
		want                      *Error
	}{
		{statusCompleted, 9, 8, at, nil},
		{statusFailed, 9, 8, at, &Error{Call: "commit", Code: 8, Text: "why", Detail: "a copy"}},
		{statusFailed, 9, 8, at + 3, &Error{Call: "commit", Code: 8, Detail: "a copy"}},
		{statusFailed, 0, 0, at, &Error{Call: "commit", Code: 1, Detail: "a copy"}},
	} {
		a := answering(map[selector]uintptr{selStatus: c.status, selError: c.error, selCode: c.code, selDescription: 10, selUTF8String: c.text})
		err := a.outcome(8, "a copy")
		var got *Error
		if errors.As(err, &got); (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("status %d: %+v", c.status, got)
		}
	}
}
