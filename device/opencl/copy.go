package opencl

import (
	"runtime"

	"github.com/bufslab/bufslab/device"
)

// A command enqueues work that begins when the events of wait are over, and
// names the call that it took.
type command func(q queueID, wait []eventID, done *eventID) (k code, call string)

// A transfer is a copy whose blocks are found and held.
type transfer struct {
	ctx      *context
	to, from place
	n        int
	pins     runtime.Pinner
}

// find holds the blocks of a copy until drop.
func (t *transfer) find(c *context, dst, src device.Block) (err error) {
	if err := device.CheckCopy(dst, src); err != nil {
		return err
	}
	t.ctx, t.n = c, dst.Len
	if t.to, err = c.locate(dst); err != nil {
		return err
	}
	t.from, err = c.locate(src)
	return err
}

func (t *transfer) drop() {
	t.to.drop()
	t.from.drop()
	t.pins.Unpin()
}

// onHost says that the CPU reaches both sides.
func (t *transfer) onHost() bool { return t.to.mem == 0 && t.from.mem == 0 }

// borrows says that the copy has to be over before the call returns.
func (t *transfer) borrows() bool { return t.to.borrowed() || t.from.borrowed() }

// byQueue says that a queue can do it: where it reaches both sides, of which
// host memory that is fine-grained counts as the device's.
func (t *transfer) byQueue() bool {
	return !t.onHost() || (t.to.fine || t.from.fine) && !t.overlapping()
}

// overlapping says that bytes of one side are bytes of the other.
func (t *transfer) overlapping() bool {
	to, from, n := t.to.off, t.from.off, uintptr(t.n)
	if t.onHost() {
		to, from = uintptr(t.to.ptr()), uintptr(t.from.ptr())
	}
	return t.to.mem == t.from.mem && to < from+n && from < to+n
}

// enqueue is the command. It is never the blocking form of the call, so that
// no lock is held while bytes move; a caller that borrows memory waits afterwards. Go
// memory stays where it is from here to drop.
func (t *transfer) enqueue(q queueID, wait []eventID, done *eventID) (k code, call string) {
	for _, p := range []*place{&t.to, &t.from} {
		if p.borrowed() {
			t.pins.Pin(&p.host[0])
		}
	}
	c, size := t.ctx, uintptr(t.n)
	n, list := after(wait)
	switch {
	case t.onHost():
		return c.EnqueueSVMMemcpy(q, 0, t.to.ptr(), t.from.ptr(), size, n, list, done), "clEnqueueSVMMemcpy"
	case t.from.mem == 0:
		return c.EnqueueWriteBuffer(q, t.to.mem, 0, t.to.off, size, t.from.ptr(), n, list, done), "clEnqueueWriteBuffer"
	case t.to.mem == 0:
		return c.EnqueueReadBuffer(q, t.from.mem, 0, t.from.off, size, t.to.ptr(), n, list, done), "clEnqueueReadBuffer"
	case t.overlapping():
		return t.detour(q, wait, done)
	}
	return c.EnqueueCopyBuffer(q, t.from.mem, t.to.mem, t.from.off, t.to.off, size, n, list,
		done), "clEnqueueCopyBuffer"
}

// detour copies by way of another buffer, as OpenCL refuses to copy between
// bytes that overlap. The driver keeps that buffer until both copies are done.
func (t *transfer) detour(q queueID, wait []eventID, done *eventID) (k code, call string) {
	c, size := t.ctx, uintptr(t.n)
	if !c.memory.Take(int64(t.n)) {
		return failedAlloc, "clCreateBuffer"
	}
	defer c.memory.Give(int64(t.n))
	way := c.CreateBuffer(c.id, uint64(ReadWrite), size, nil, &k)
	if k != succeeded {
		return k, "clCreateBuffer"
	}
	defer c.ReleaseMemObject(way)
	var half eventID
	n, list := after(wait)
	if k = c.EnqueueCopyBuffer(q, t.from.mem, way, t.from.off, 0, size, n, list, &half); k == succeeded {
		k = c.EnqueueCopyBuffer(q, way, t.to.mem, 0, t.to.off, size, 1, &half, done)
		c.ReleaseEvent(half)
	}
	return k, "clEnqueueCopyBuffer"
}

// Copy moves bytes between any two places of which this hardware reaches
// both: its own memory of every form, and what the CPU reaches. Blocks may overlap.
// It does not wait for streams.
func (d *Device) Copy(dst, src device.Block) error {
	if err := d.usable(); err != nil {
		return err
	}
	var t transfer
	defer t.drop()
	if err := t.find(d.ctx, dst, src); err != nil || t.n == 0 {
		return err
	}
	if t.onHost() {
		copy(t.to.host, t.from.host)
		return nil
	}
	var done eventID
	k, call := t.enqueue(d.ctx.queue, nil, &done)
	if k == succeeded {
		k = d.ctx.finish(done)
	}
	return d.ctx.failed(k, call, "%d bytes on %s", t.n, d.base.Name())
}
