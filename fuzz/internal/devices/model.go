package devices

import (
	"errors"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/draw"
	"github.com/bufslab/bufslab/fuzz/internal/model"
)

// unknown stands in the model for a byte that may hold anything.
const unknown = -1

// A modelBlock is a block and what each of its bytes must hold: 0 to 255 or unknown.
type modelBlock struct {
	block device.Block
	want  []int
	use   model.Use // by the stream that still writes or reads
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
	model.Patience
	dev      device.Device
	contents bool // false where there is no memory behind addresses
	blocks   []*modelBlock
	freed    []device.Block
	streams  model.Streams

	span  device.Range  // nil where the device reserves none
	pages []*modelBlock // of span, nil where not committed
}

// modelPages is how many pages a range has: enough for holes.
const modelPages = 6

func (m *deviceModel) reserve(t *rapid.T) {
	r, is := m.dev.(device.Reserver)
	if !is {
		return
	}
	g, err := r.Reserve(modelPages << 21) // of pages as large as a GPU's
	if errors.Is(err, device.ErrUnavailable) {
		return
	}
	if model.OK(t, err); g == nil {
		t.Fatal("Reserve gave no range and no error")
	}
	m.span, m.pages = g, make([]*modelBlock, min(modelPages, g.Region().Size()/g.Page()))
}

// live returns what can be written: blocks and committed pages.
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
		m.Skip(t, "nothing is allocated")
	}
	return rapid.SampledFrom(live).Draw(t, "block")
}

// pick draws something that can be written here and now.
func (m *deviceModel) pick(t *rapid.T) *modelBlock {
	b := m.pickBusy(t)
	b.use.Wait(t)
	return b
}

// pickPart draws up to most bytes within b. Lengths of every magnitude are
// equally likely.
func pickPart(t *rapid.T, b *modelBlock, most int) (off, n int) {
	n = min(most, draw.Size(t), b.block.Len)
	return rapid.IntRange(0, b.block.Len-n).Draw(t, "off"), n
}
