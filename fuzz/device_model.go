package fuzz

import (
	"errors"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
)

// unknown stands in the model for a byte whose value nobody promises.
const unknown = -1

// A modelBlock is a block and what each of its bytes must hold: 0 to 255 or unknown.
type modelBlock struct {
	block device.Block
	want  []int
	use   *modelUse // nil where no stream has work to do on it
}

func newModelBlock(b device.Block) *modelBlock {
	m := &modelBlock{block: b, want: make([]int, b.Len)}
	m.forget(0, b.Len)
	return m
}

// forget makes n bytes from off unknown.
func (m *modelBlock) forget(off, n int) { m.fill(off, n, unknown) }

// set makes the bytes from off those of value.
func (m *modelBlock) set(off int, value []byte) {
	for i, v := range value {
		m.want[off+i] = int(v)
	}
}

// fill makes n bytes from off v.
func (m *modelBlock) fill(off, n, v int) {
	for i := off; i < off+n; i++ {
		m.want[i] = v
	}
}

// part is n bytes of the block from off.
func (m *modelBlock) part(off, n int) device.Block {
	return device.Block{Region: m.block.Region, Off: m.block.Off + off, Len: n}
}

// deviceModel is a device beside what it must hold.
type deviceModel struct {
	patience
	dev, heap device.Device // heap is host memory, to copy by way of
	contents  bool          // false where there is no memory behind addresses
	blocks    []*modelBlock
	freed     []device.Block
	streams   [modelStreams]device.Stream // nil until drawn

	span  device.Range  // nil where the device reserves none
	pages []*modelBlock // of span, nil where not committed
}

// host returns host memory to copy from and to.
func (m *deviceModel) host(t *rapid.T, contents []byte) device.Block {
	b, err := m.heap.Alloc(len(contents))
	ok(t, err)
	copy(device.Bytes(b), contents)
	return b
}

func (m *deviceModel) hasContents(t *rapid.T) bool {
	b, err := m.dev.Alloc(1)
	ok(t, err)
	defer m.dev.Free(b)
	err = m.dev.Copy(b, m.host(t, []byte{1}))
	if !errors.Is(err, device.ErrUnavailable) {
		ok(t, err)
	}
	return err == nil
}

// modelPages is how many pages a range has: enough for holes.
const modelPages = 6

func (m *deviceModel) reserve(t *rapid.T) {
	r, is := m.dev.(device.Reserver)
	if !is {
		return
	}
	g, err := r.Reserve(1 << 20)
	if errors.Is(err, device.ErrUnavailable) {
		return
	}
	ok(t, err)
	m.span, m.pages = g, make([]*modelBlock, min(modelPages, g.Region().Size()/g.Page()))
}

// live returns what can be written: blocks and committed pages alike.
func (m *deviceModel) live() []*modelBlock {
	all := m.blocks[:len(m.blocks):len(m.blocks)]
	for _, p := range m.pages {
		if p != nil {
			all = append(all, p)
		}
	}
	return all
}

// pickBusy draws something that can be written by a stream, or skips the step.
func (m *deviceModel) pickBusy(t *rapid.T) *modelBlock {
	live := m.live()
	if len(live) == 0 {
		m.skip(t, "nothing is allocated")
	}
	return rapid.SampledFrom(live).Draw(t, "block")
}

// pick draws something that can be written here and now.
func (m *deviceModel) pick(t *rapid.T) *modelBlock {
	b := m.pickBusy(t)
	b.calm(t)
	return b
}

// pickPart draws up to most bytes within b. Lengths of every magnitude are
// as likely as each other.
func pickPart(t *rapid.T, b *modelBlock, most int) (off, n int) {
	n = min(most, drawSize(t), b.block.Len)
	return rapid.IntRange(0, b.block.Len-n).Draw(t, "off"), n
}

// drawSize draws a size near a power of two, where devices change their ways.
func drawSize(t *rapid.T) int {
	shift := rapid.IntRange(0, 17).Draw(t, "shift")
	return max(0, 1<<shift+rapid.IntRange(-2, 2).Draw(t, "more"))
}

// drawBytes draws contents by two numbers, which shrinks better than n do.
func drawBytes(t *rapid.T, n int) []byte {
	first, step := rapid.Byte().Draw(t, "first"), rapid.Byte().Draw(t, "step")
	m := make([]byte, n)
	for i := range m {
		m[i] = first + byte(i)*step + byte(i>>8)
	}
	return m
}
