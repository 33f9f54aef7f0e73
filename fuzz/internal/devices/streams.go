package devices

import (
	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/draw"
	"github.com/bufslab/bufslab/fuzz/internal/model"
)

// stream draws a stream of the device.
func (m *deviceModel) stream(t *rapid.T) *device.Stream {
	m.needContents(t)
	return m.streams.Draw(t, m.dev)
}

// used notes that s has work to do on blocks.
func used(t *rapid.T, s device.Stream, blocks ...*modelBlock) {
	u := model.Record(t, s)
	for _, b := range blocks {
		b.use = u
	}
}

func (m *deviceModel) enqueueFill(t *rapid.T) {
	s := *m.stream(t)
	b := m.pickBusy(t)
	off, n := pickPart(t, b, b.block.Len)
	v := rapid.Byte().Draw(t, "value")
	b.use.Join(t, s)
	model.OK(t, s.Fill(b.part(off, n), v))
	used(t, s, b)
	b.fill(off, n, int(v))
}

func (m *deviceModel) enqueueWrite(t *rapid.T) {
	s := *m.stream(t)
	b := m.pickBusy(t)
	off, n := pickPart(t, b, b.block.Len)
	value := draw.Bytes(t, n)
	b.use.Join(t, s)
	model.OK(t, s.Copy(b.part(off, n), device.Host(value)))
	used(t, s, b)
	b.set(off, value)
}

func (m *deviceModel) enqueueCopy(t *rapid.T) {
	s := *m.stream(t)
	from, to := m.pickBusy(t), m.pickBusy(t)
	src, n := pickPart(t, from, to.block.Len)
	dst := rapid.IntRange(0, to.block.Len-n).Draw(t, "to")
	from.use.Join(t, s)
	to.use.Join(t, s)
	model.OK(t, s.Copy(to.part(dst, n), from.part(src, n)))
	used(t, s, from, to)
	copy(to.want[dst:dst+n], from.want[src:src+n])
}

// settle waits for a stream by Sync or Close. Its events have to be done then.
func (m *deviceModel) settle(t *rapid.T) {
	at := m.stream(t)
	s := *at
	if rapid.Bool().Draw(t, "close") {
		model.OK(t, s.Close())
		*at = nil
	} else {
		model.OK(t, s.Sync())
	}
	for _, b := range m.live() {
		if b.use.Stream == s {
			if !b.use.Done() {
				t.Fatalf("an event is not done although its stream was waited for")
			}
			b.use = model.Use{}
		}
	}
}

// poll asks an event whether it is done. If so, the invariant checks the block.
func (m *deviceModel) poll(t *rapid.T) {
	if b := m.pickBusy(t); b.use.Done() {
		b.use = model.Use{}
	}
}
