package metal

import (
	"bytes"
	"fmt"

	"github.com/bufslab/bufslab/device"
)

// Copy is Device.Copy in the order of the stream.
func (s *Stream) Copy(dst, src device.Block) error {
	return s.do(func() error {
		if err := s.dev.base.Usable(); err != nil {
			return err
		}
		t, err := s.hw.find(dst, src)
		defer t.drop()
		switch {
		case err != nil || t.nothing():
			return err
		case t.byGPU():
			return s.encode(t.String(), t.n, func(blit id) { t.encode(s.hw.api, blit) }, t.to, t.from)
		}
		if err := s.drain(); err != nil {
			return err
		}
		return s.hw.now(&t)
	})
}

// Fill sets every byte of dst.
func (s *Stream) Fill(dst device.Block, value byte) error {
	return s.do(func() error {
		if err := s.dev.base.Usable(); err != nil {
			return err
		}
		if err := device.CheckBlock(dst); err != nil || dst.Len == 0 {
			return err
		}
		p, err := s.hw.locate(dst)
		if err != nil {
			return err
		}
		defer p.drop()
		return s.fill(p, dst.Len, value)
	})
}

// fill has the GPU set words. Bytes that are none are the CPU's, when their turn has come.
func (s *Stream) fill(p place, n int, value byte) error {
	if p.onGPU(n) {
		return s.fillWords(p, n, value)
	}
	if err := s.drain(); err != nil {
		return err
	}
	if p.host != nil {
		device.Fill(p.host, value)
		return nil
	}
	return s.hw.staged(func(t *stage) error {
		head := min(n, -p.off&(word-1))
		tail := (p.off + n) & (word - 1)
		if head == n {
			tail = 0
		}
		edge := bytes.Repeat([]byte{value}, word)
		for _, x := range [][2]int{{0, head}, {n - tail, tail}} {
			if x[1] == 0 {
				continue
			}
			if err := t.put(p.part(x[0], x[1]), edge[:x[1]]); err != nil {
				return err
			}
		}
		if n == head+tail {
			return nil
		}
		return s.fillWords(p.part(head, n-head-tail), n-head-tail, value)
	})
}

func (s *Stream) fillWords(p place, n int, value byte) error {
	return s.encode(fmt.Sprintf("a fill of %d bytes", n), n, func(blit id) {
		s.hw.tell(blit, selFill, uintptr(p.buf.obj), uintptr(p.off), uintptr(n), uintptr(value))
	}, p)
}
