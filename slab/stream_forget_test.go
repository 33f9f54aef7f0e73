package slab

import "testing"

// What was used and forgotten waits too, wherever it comes from.
func TestForgottenUsedBuffersWait(t *testing.T) {
	for _, dev := range []string{"sim", "heap", "mmap"} {
		t.Run(dev, func(t *testing.T) {
			p := openPool(t, dev, Config{})
			q := &queue{}
			func() { used(t, mustGet(t, p, streamSize), q) }()
			eventually(t, "the forgotten block waits", func() bool { cycle(); return p.Stats().WaitingBlocks == 1 })
			waiting(t, p, 1)
			if s := p.Stats(); s.Forgotten != 1 || s.ActiveBlocks != 0 {
				t.Errorf("%+v", s)
			}
			cycle() // it is not lost twice
			b := mustGetOn(t, p, streamSize, q)
			if s := p.Stats(); s.WaitingBlocks != 0 || s.UpstreamAllocs != 1 {
				t.Errorf("%+v", s)
			}
			if m := b.Bytes(); dev != "sim" {
				m[0], m[len(m)-1] = 1, 2
			}
			mustRelease(t, b)
			q.Finish()
			p.FreeHeld()
			if s := p.Stats(); s.ManagedBytes != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Quarantined memory keeps its contents until the streams are done with it.
func TestQuarantineWaits(t *testing.T) {
	p := openPool(t, "mmap", Config{})
	q := &queue{}
	var view []byte
	func() {
		b := used(t, mustGet(t, p, streamSize), q)
		view = b.Bytes()
		view[100] = 7
	}()
	eventually(t, "an event is recorded", func() bool { cycle(); return p.pool.pending.Len() == 1 })
	if s := p.Stats(); s.WaitingBlocks != 0 || s.UnusableBytes != streamSize {
		t.Errorf("%+v", s)
	}
	p.FreeHeld()
	if view[100] != 7 {
		t.Error("the memory is gone before the stream is done")
	}
	if b := mustGetOn(t, p, streamSize, q); &b.Bytes()[0] == &view[0] {
		t.Error("quarantined memory is handed out")
	} else {
		mustRelease(t, b)
	}
	q.Finish()
	p.FreeHeld()
	if !faults(&view[100]) || p.Stats().UnusableBytes > 8<<10 {
		t.Error("the pages are not given back when the stream is done")
	}
}
