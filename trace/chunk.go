package trace

import "math"

// A chunk is a part of a trace: what a replay runs between two looks at the clock, and
// what a stream of events has in memory at a time.
type chunk struct {
	steps   []step
	large   []int  // sizes that no step has room for
	times   packed // nanoseconds
	threads packed // places in Trace.threads
	streams packed // places in Trace.streams
}

const chunkSteps = 1 << 16

// A step is what a replay needs of an op. In a keyed trace its slot is the place of the
// key; else it is that of the allocation, plus grows where that goes on with another size. Its
// size is below inLarge, or inLarge plus a place in large, or freed.
type step struct{ slot, size uint32 }

const (
	freed   = math.MaxUint32
	inLarge = 1 << 31
	grows   = 1 << 31 // no program has as many allocations live
)

// add adds a step, without time, thread and stream.
func (c *chunk) add(slot uint32, size int) {
	n := uint32(size)
	if uint64(size) >= inLarge {
		n = inLarge + uint32(len(c.large))
		c.large = append(c.large, size)
	}
	c.steps = append(c.steps, step{slot, n})
}

// grow returns the slot of an allocation that s grows, and whether it does.
func (s step) grow() (slot uint32, is bool) {
	return s.slot &^ grows, s.slot&grows != 0
}

// size returns the bytes of a step that is no free.
func (c *chunk) size(s step) int {
	if s.size >= inLarge {
		return c.large[s.size-inLarge]
	}
	return int(s.size)
}

// names numbers what has large or rare numbers in the order in which it comes.
type names struct {
	placeOf map[uint64]uint32
	last    uint64 // that was asked for, and its place
	place   uint32
}

func (n *names) number(name uint64, all *[]uint64) uint32 {
	if len(*all) > 0 && name == n.last {
		return n.place
	}
	place, known := n.placeOf[name]
	if !known {
		if n.placeOf == nil {
			n.placeOf = map[uint64]uint32{}
		}
		place = uint32(len(*all))
		n.placeOf[name] = place
		*all = append(*all, name)
	}
	n.last, n.place = name, place
	return place
}
