package opencl

import "github.com/bufslab/bufslab/device"

// Copy is Device.Copy in the order of the stream.
func (s *Stream) Copy(dst, src device.Block) error {
	var t transfer
	defer t.drop()
	var done eventID // of a copy to wait for
	err := s.do(func() (err error) {
		if err := s.dev.usable(); err != nil {
			return err
		}
		if err := t.find(s.ctx, dst, src); err != nil || t.n == 0 {
			return err
		}
		if !t.byQueue() {
			return s.byCPU(func() { copy(t.to.host, t.from.host) })
		}
		done, err = s.add(t.enqueue, nil, t.borrows(), "%d bytes on %s", t.n, s.dev.base.Name())
		return err
	})
	if done == 0 {
		return err
	}
	return s.settle(done)
}

// byCPU does what only the CPU can, when its turn has come. The caller has mu.
func (s *Stream) byCPU(work func()) error {
	if err := s.drain(); err != nil {
		return err
	}
	work()
	return nil
}

// Fill sets every byte of dst.
func (s *Stream) Fill(dst device.Block, value byte) error {
	return s.do(func() error {
		if err := s.dev.usable(); err != nil {
			return err
		}
		if err := device.CheckBlock(dst); err != nil {
			return err
		}
		p, err := s.ctx.locate(dst)
		if err != nil {
			return err
		}
		defer p.drop()
		if dst.Len == 0 {
			return nil
		}
		if p.mem == 0 && !p.fine {
			return s.byCPU(func() { device.Fill(p.host, value) })
		}
		_, err = s.add(s.ctx.fill(p, dst.Len, &value), nil, false, "%d bytes on %s", dst.Len, s.dev.base.Name())
		return err
	})
}

// fill is the command that sets n bytes of p.
func (c *context) fill(p place, size int, value *byte) command {
	return func(q queueID, wait []eventID, done *eventID) (code, string) {
		n, list := after(wait)
		if p.fine {
			return c.EnqueueSVMMemFill(q, p.ptr(), value, 1, uintptr(size), n, list, done), "clEnqueueSVMMemFill"
		}
		return c.EnqueueFillBuffer(q, p.mem, value, 1, p.off, uintptr(size), n, list, done), "clEnqueueFillBuffer"
	}
}
