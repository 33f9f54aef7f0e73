package pending

import (
	"math"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/handle"
)

// A Block was released before the streams that use it were done.
type Block struct {
	handle.Entry
	Escaped bool // a slice may still be in use: not to be handed out again

	uses   []use // that are not known to be over
	number uint64
}

// A use is a stream's, until an event of it.
type use struct {
	stream device.Stream
	event  device.Event
}

// NewBlock returns a block whose uses end where the streams are now.
func NewBlock(e handle.Entry, escaped bool, on []device.Stream) *Block {
	b := &Block{Entry: e, Escaped: escaped}
	b.Record(on)
	return b
}

// Record adds uses that end where the streams are now. A stream that cannot record an event is waited for; if it fails
// it has nothing under way. If one panics, the others have recorded when the panic passes on.
func (b *Block) Record(on []device.Stream) {
	if len(on) == 0 {
		return
	}
	defer b.Record(on[1:])
	event, err := on[0].Record()
	if err != nil {
		_ = on[0].Sync()
		return
	}
	b.uses = append(b.uses, use{on[0], event})
}

// done drops the uses at the front that are over, and reports whether all are.
func (b *Block) done() bool {
	for len(b.uses) > 0 && b.uses[0].event.Done() {
		b.uses = b.uses[1:]
	}
	return len(b.uses) == 0
}

// Sync waits for all uses. That a stream has failed is for others to hear: nothing
// uses the block any more.
func (b *Block) Sync() {
	for _, u := range b.uses {
		_ = u.event.Sync()
	}
}

// Fits reports whether the block can be handed out for size bytes, with at most spare
// bytes more.
func (b *Block) Fits(size, spare int) bool {
	n := b.Slot.Len()
	return !b.Escaped && n >= size && n-size <= spare && uint64(n-size) <= math.MaxUint32
}

// WaitOn has s wait for all uses that are not its own.
func (b *Block) WaitOn(s device.Stream) error {
	for _, u := range b.uses {
		if u.stream == s {
			continue
		}
		if err := s.Wait(u.event); err != nil {
			return err
		}
	}
	return nil
}
