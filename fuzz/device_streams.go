package fuzz

import (
	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
)

// modelStreams is how many streams a program has: enough for one to be
// overtaken by two others.
const modelStreams = 3

// A modelUse is the last work on a block that nobody has waited for yet. What
// its bytes must hold is what they will hold then.
type modelUse struct {
	stream device.Stream
	event  device.Event
}

// stream draws a stream, a new one at first.
func (m *deviceModel) stream(t *rapid.T) *device.Stream {
	m.needContents(t)
	s := &m.streams[rapid.IntRange(0, modelStreams-1).Draw(t, "stream")]
	if *s == nil {
		var err error
		*s, err = m.dev.NewStream()
		ok(t, err)
	}
	return s
}

// join makes s wait for whatever else is to happen to b.
func (b *modelBlock) join(t *rapid.T, s device.Stream) {
	if b.use != nil && b.use.stream != s {
		ok(t, s.Wait(b.use.event))
	}
}

// calm waits until nothing more happens to b.
func (b *modelBlock) calm(t *rapid.T) {
	if b.use != nil {
		ok(t, b.use.event.Sync())
		b.use = nil
	}
}

// used notes that s has work to do on blocks.
func used(t *rapid.T, s device.Stream, blocks ...*modelBlock) {
	e, err := s.Record()
	ok(t, err)
	for _, b := range blocks {
		b.use = &modelUse{s, e}
	}
}

func (m *deviceModel) enqueueFill(t *rapid.T) {
	s := *m.stream(t)
	b := m.pickBusy(t)
	off, n := pickPart(t, b, b.block.Len)
	v := rapid.Byte().Draw(t, "value")
	b.join(t, s)
	ok(t, s.Fill(b.part(off, n), v))
	used(t, s, b)
	b.fill(off, n, int(v))
}

func (m *deviceModel) enqueueWrite(t *rapid.T) {
	s := *m.stream(t)
	b := m.pickBusy(t)
	off, n := pickPart(t, b, b.block.Len)
	value := drawBytes(t, n)
	b.join(t, s)
	ok(t, s.Copy(b.part(off, n), m.host(t, value)))
	used(t, s, b)
	b.set(off, value)
}

func (m *deviceModel) enqueueCopy(t *rapid.T) {
	s := *m.stream(t)
	from, to := m.pickBusy(t), m.pickBusy(t)
	src, n := pickPart(t, from, to.block.Len)
	dst := rapid.IntRange(0, to.block.Len-n).Draw(t, "to")
	from.join(t, s)
	to.join(t, s)
	ok(t, s.Copy(to.part(dst, n), from.part(src, n)))
	used(t, s, from, to)
	copy(to.want[dst:dst+n], from.want[src:src+n])
}

// settle waits for a stream, by Sync or Close, and looks at its events then.
func (m *deviceModel) settle(t *rapid.T) {
	at := m.stream(t)
	s := *at
	if rapid.Bool().Draw(t, "close") {
		ok(t, s.Close())
		*at = nil
	} else {
		ok(t, s.Sync())
	}
	for _, b := range m.live() {
		if b.use != nil && b.use.stream == s {
			if !b.use.event.Done() {
				t.Fatalf("an event is not done although somebody waited for its stream")
			}
			b.use = nil
		}
	}
}

// poll believes an event that says it is done.
func (m *deviceModel) poll(t *rapid.T) {
	if b := m.pickBusy(t); b.use != nil && b.use.event.Done() {
		b.use = nil
	}
}

// closeStreams waits for all.
func (m *deviceModel) closeStreams(t *rapid.T) {
	for _, s := range m.streams {
		if s != nil {
			ok(t, s.Close())
		}
	}
	for _, b := range m.live() {
		b.use = nil
	}
}
