package slab

import "github.com/bufslab/bufslab/device"

// A locator finds the block of the upstream that a smaller block was cut
// from. As a rule each has a region of its own; over an upstream that cuts
// regions itself several share one.
type locator struct {
	by   map[device.Region]located
	last span // found last
}

// A span is a block of the upstream and its owner's number for it.
type span struct {
	block device.Block
	id    int32
}

type located struct {
	first span
	more  []span // unsorted: rare and few
}

func newLocator() locator { return locator{by: map[device.Region]located{}} }

func (s span) holds(b device.Block) bool {
	return s.block.Region == b.Region && b.Off >= s.block.Off && b.Len <= s.block.Len && b.Off-s.block.Off <= s.block.Len-b.Len
}

func (l *locator) add(b device.Block, id int32) {
	x, ok := l.by[b.Region]
	if !ok {
		x.first = span{b, id}
	} else {
		x.more = append(x.more, span{b, id})
	}
	l.by[b.Region] = x
}

func (l *locator) remove(b device.Block) {
	l.last = span{}
	x := l.by[b.Region]
	k := len(x.more)
	if k == 0 {
		delete(l.by, b.Region)
		return
	}
	if x.first.block == b {
		x.first, x.more = x.more[k-1], x.more[:k-1]
	} else {
		for i := range x.more {
			if x.more[i].block == b {
				x.more[i], x.more = x.more[k-1], x.more[:k-1]
				break
			}
		}
	}
	l.by[b.Region] = x
}

// find returns the number of the block that b lies in.
func (l *locator) find(b device.Block) (id int32, ok bool) {
	if b.Region == nil {
		return 0, false
	}
	if l.last.holds(b) {
		return l.last.id, true
	}
	x := l.by[b.Region]
	if x.first.holds(b) {
		l.last = x.first
		return x.first.id, true
	}
	for _, s := range x.more {
		if s.holds(b) {
			l.last = s
			return s.id, true
		}
	}
	return 0, false
}

// An unwrapper is an Allocator that passes blocks of another through as they are.
type unwrapper interface{ Unwrap() Allocator }

// ownRegions reports whether every block of a is a region of its own, as a
// device's are.
func ownRegions(a Allocator) bool { return deviceOf(a) != nil }

// deviceOf returns the device that a passes blocks through from, or nil.
func deviceOf(a Allocator) device.Device {
	for {
		if d, ok := a.(device.Device); ok {
			return d
		}
		u, ok := a.(unwrapper)
		if !ok {
			return nil
		}
		a = u.Unwrap()
	}
}

// grainOf returns what the regions of a are multiples of.
func grainOf(a Allocator) int {
	if g, ok := deviceOf(a).(device.Grained); ok {
		return g.Grain()
	}
	return 1
}

// footprint returns what a block costs its upstream: the whole region where it has one of its
// own, which may be larger than asked.
func footprint(b device.Block, own bool) int64 {
	if own && b.Region != nil {
		return int64(b.Region.Size())
	}
	return int64(b.Len)
}
