package metal

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
)

// A transfer is a copy whose blocks are found and held.
type transfer struct {
	to, from place
	n        int
}

// find holds the blocks of a copy until drop.
func (h *hardware) find(dst, src device.Block) (t transfer, err error) {
	if err := device.CheckCopy(dst, src); err != nil || dst.Len == 0 {
		return t, err
	}
	t.n = dst.Len
	if t.to, err = h.locate(dst); err == nil {
		t.from, err = h.locate(src)
	}
	return t, err
}

func (t *transfer) drop() {
	t.to.drop()
	t.from.drop()
}

// nothing says that there is nothing to move.
func (t *transfer) nothing() bool {
	return t.n == 0 || t.to.buf != nil && t.to.buf == t.from.buf && t.to.off == t.from.off
}

// onHost says that the CPU reaches both sides.
func (t *transfer) onHost() bool { return t.to.host != nil && t.from.host != nil }

// byGPU says that one command of the GPU does it.
func (t *transfer) byGPU() bool {
	overlaps := t.to.buf == t.from.buf && t.to.off < t.from.off+t.n && t.from.off < t.to.off+t.n
	return t.to.onGPU(t.n) && t.from.onGPU(t.n) && !overlaps
}

// encode puts it into an encoder.
func (t *transfer) encode(a *api, blit id) {
	a.copy(blit, t.to.buf.obj, t.to.off, t.from.buf.obj, t.from.off, t.n)
}

func (a *api) copy(blit, dst id, to int, src id, from, n int) {
	a.tell(blit, selCopy, uintptr(src), uintptr(from), uintptr(dst), uintptr(to), uintptr(n))
}

// String says what it was, for errors.
func (t *transfer) String() string { return fmt.Sprintf("a copy of %d bytes", t.n) }

// now makes the copy, and returns when it is done.
func (h *hardware) now(t *transfer) error {
	if t.onHost() {
		copy(t.to.host, t.from.host)
		return nil
	}
	return h.staged(func(s *stage) error {
		if t.byGPU() {
			return h.once(s.queue, t.String(), func(blit id) { t.encode(h.api, blit) })
		}
		return s.move(t)
	})
}

// Copy moves bytes between any two places of which this GPU or the CPU reaches both. Blocks may
// overlap. It does not wait for streams.
func (d *Device) Copy(dst, src device.Block) error {
	if err := d.usable(); err != nil {
		return err
	}
	t, err := d.hw.find(dst, src)
	defer t.drop()
	if err != nil || t.nothing() {
		return err
	}
	return d.hw.now(&t)
}
