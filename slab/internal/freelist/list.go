// Package freelist keeps whole blocks of an upstream for reuse: a stack of
// blocks for each key, and one queue of all of them by age. A block goes to the
// processor that pushed it, if it can: its bytes are in that processor's caches, and to
// move a large block to those of another takes longer than all else.
package freelist

import (
	"math"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/bitset"
)

// A List holds free blocks. Blocks of a key are a stack, last in first out, and
// all blocks are in a queue by age, so that bounds and trims let go of what has
// been held longest. It takes no lock and calls no upstream: methods append the
// blocks that have to leave to a slice, for the owner to free without its lock.
type List struct {
	o      Options
	nodes  []node // node 0 is the queue's end: its next is the oldest, its prev the youngest
	vacant []int32
	tops   map[int]int32
	keys   bitset.Set // that have blocks, if they are ordered
	blocks int
	bytes  int64
	epoch  uint32
	steps  int // since the last check, in check builds
}

// Options bound a List. No bound is the largest value of its type.
type Options struct {
	MaxBytes      int64 // of all blocks
	MaxBlocks     int
	MaxBlockBytes int64 // larger blocks are never held
	// Processor returns the number of the processor that the caller runs on. May be nil.
	Processor func() int
	// Ordered says that keys are small numbers in the order of their blocks'
	// sizes. Only ordered keys can be searched.
	Ordered bool
}

// A node is a block with its place in the queue and in its stack.
type node struct {
	block       device.Block
	key         int
	size        int64
	prev, next  int32
	above, down int32
	stamp       uint32
	processor   int32 // that pushed it
}

// New returns an empty List.
func New(o Options) *List { return &List{o: o, nodes: make([]node, 1), tops: map[int]int32{}} }

// Blocks and Bytes return what is held.
func (l *List) Blocks() int { return l.blocks }

// Bytes returns the sum of the sizes of what is held.
func (l *List) Bytes() int64 { return l.bytes }

// Stopped reports whether nothing may be held.
func (l *List) Stopped() bool { return l.o.MaxBlocks == 0 }

// Push holds a block of size bytes, and appends to out what has to leave for
// it: the longest held, or the block itself if it may not be held at all. A
// block with a negative key is never held.
func (l *List) Push(key int, b device.Block, size int64, out []device.Block) []device.Block {
	if key < 0 || size > l.o.MaxBlockBytes || size > l.o.MaxBytes || l.o.MaxBlocks == 0 {
		return append(out, b)
	}
	l.hold(key, b, size)
	return l.Shrink(l.o.MaxBlocks, l.o.MaxBytes, out)
}

// stranded is the key of blocks that Strand holds.
const stranded = -1

// Strand holds a block that the upstream would not take, whatever the bounds are. It
// serves no Pop, and leaves as others do.
func (l *List) Strand(b device.Block, size int64) { l.hold(stranded, b, size) }

// hold enters a block as the youngest, and as the top of its stack.
func (l *List) hold(key int, b device.Block, size int64) {
	i := l.node()
	n := &l.nodes[i]
	*n = node{block: b, key: key, size: size, stamp: l.epoch, down: l.tops[key], processor: l.processor()}
	if n.down != 0 {
		l.nodes[n.down].above = i
	}
	l.setTop(key, i)
	last := l.nodes[0].prev
	n.prev = last
	l.nodes[last].next = i
	l.nodes[0].prev = i
	l.blocks++
	l.bytes += size
	l.verify()
}

// node returns a node that is not in use.
func (l *List) node() int32 {
	if k := len(l.vacant); k > 0 {
		i := l.vacant[k-1]
		l.vacant = l.vacant[:k-1]
		return i
	}
	l.nodes = append(l.nodes, node{})
	return int32(len(l.nodes) - 1)
}

// Pop returns the block of the key that was pushed last, of this processor if it can.
func (l *List) Pop(key int) (device.Block, bool) {
	i := l.tops[key]
	if i == 0 || key == stranded {
		return device.Block{}, false
	}
	if own := l.ownOf(key, l.processor()); own != 0 {
		i = own
	}
	return l.remove(i), true
}

// PopRange returns a block of the smallest key in lo..hi that has one of this processor, else of the
// smallest key that has any. Keys must be ordered.
func (l *List) PopRange(lo, hi int) (b device.Block, key int, ok bool) {
	key = l.keys.Next(lo)
	if key < 0 || key > hi {
		return b, 0, false
	}
	i, on := l.tops[key], l.processor()
	for k := key; 0 <= k && k <= hi; k = l.keys.Next(k + 1) {
		if own := l.ownOf(k, on); own != 0 {
			i, key = own, k
			break
		}
	}
	return l.remove(i), key, true
}

// near is the number of blocks of a key among which a processor looks for its own.
const near = 8

// ownOf returns the youngest block of the key that a processor has pushed, among the first few, else 0.
func (l *List) ownOf(key int, processor int32) int32 {
	i := l.tops[key]
	for n := 0; n < near && i != 0; n++ {
		if l.nodes[i].processor == processor {
			return i
		}
		i = l.nodes[i].down
	}
	return 0
}

func (l *List) processor() int32 {
	if l.o.Processor == nil {
		return 0
	}
	return int32(l.o.Processor())
}

// PopVictim returns what to part with first when there is no room: a block of
// the largest key, or the oldest block where keys have no order. A stranded block
// comes last.
func (l *List) PopVictim() (device.Block, bool) {
	i := l.nodes[0].next
	if i == 0 {
		return device.Block{}, false
	}
	if l.o.Ordered {
		i = l.tops[l.keys.Last()] // that of stranded blocks, if there are no others
	}
	return l.remove(i), true
}

// Clear lets all blocks go.
func (l *List) Clear(out []device.Block) []device.Block { return l.Shrink(0, 0, out) }

// Shrink lets the longest held go until no more than that is held.
func (l *List) Shrink(blocks int, bytes int64, out []device.Block) []device.Block {
	for l.blocks > blocks || l.bytes > bytes {
		out = append(out, l.remove(l.nodes[0].next))
	}
	return out
}

// ShrinkBytes is Shrink with a bound on bytes only.
func (l *List) ShrinkBytes(bytes int64, out []device.Block) []device.Block {
	return l.Shrink(math.MaxInt, bytes, out)
}

// Trim lets go of what has been held for the last idle epochs, and ends one.
func (l *List) Trim(idle int, out []device.Block) []device.Block {
	for i := l.nodes[0].next; i != 0 && int64(l.epoch)-int64(l.nodes[i].stamp) >= int64(idle); i = l.nodes[0].next {
		out = append(out, l.remove(i))
	}
	l.epoch++
	return out
}

// Stop lets all blocks go and holds nothing from now on.
func (l *List) Stop(out []device.Block) []device.Block {
	l.o.MaxBlocks = 0
	return l.Clear(out)
}

// remove takes node i out of its stack and of the queue.
func (l *List) remove(i int32) device.Block {
	n := l.nodes[i]
	l.nodes[n.prev].next = n.next
	l.nodes[n.next].prev = n.prev
	if n.down != 0 {
		l.nodes[n.down].above = n.above
	}
	if n.above != 0 {
		l.nodes[n.above].down = n.down
	} else {
		l.setTop(n.key, n.down)
	}
	l.blocks--
	l.bytes -= n.size
	l.nodes[i] = node{}
	l.vacant = append(l.vacant, i)
	l.verify()
	return n.block
}

func (l *List) setTop(key int, i int32) {
	ordered := l.o.Ordered && key != stranded
	if i != 0 {
		l.tops[key] = i
		if ordered {
			l.keys.Grow(key)
			l.keys.Set(key)
		}
		return
	}
	delete(l.tops, key)
	if ordered {
		l.keys.Clear(key)
	}
}
