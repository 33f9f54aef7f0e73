package slab

import "math/bits"

// A carver cuts slabs into equal blocks: which of them are free, and which
// slabs of a class have any. Where a slab's memory is, its owner M knows. It
// takes no lock.
type carver[M any] struct {
	slabs                 []carved[M]
	vacant                []int32
	classes               []carvedClass
	freeBytes, freeBlocks int64
	tailBytes             int64 // what slabs have beyond their blocks
}

type carvedClass struct {
	partial int32 // slabs with a free block, last used first
	live    int   // blocks out
}

// A carved is one slab. Slab 0 is none.
type carved[M any] struct {
	mem        M
	free       []uint64 // a bit a block
	spare      []uint16 // of each block that is out: the bytes that its owner did not ask for
	size       int      // of a block
	n, nfree   int32
	hint       int32 // no word of free before it has a bit
	next, prev int32 // in the list of its class
	class      int32
}

func newCarver[M any](classes int) carver[M] {
	return carver[M]{slabs: make([]carved[M], 1), classes: make([]carvedClass, classes)}
}

// add makes bytes of memory a slab of the class, whose blocks have size bytes.
func (v *carver[M]) add(class, size, bytes int, mem M) int32 {
	n := bytes / size
	c := carved[M]{mem: mem, free: make([]uint64, (n+63)/64), spare: make([]uint16, n), size: size, n: int32(n), nfree: int32(n), class: int32(class)}
	for k := range c.free {
		c.free[k] = ^uint64(0)
	}
	if n&63 != 0 {
		c.free[len(c.free)-1] = 1<<(n&63) - 1
	}
	var i int32
	if k := len(v.vacant); k > 0 {
		i = v.vacant[k-1]
		v.vacant = v.vacant[:k-1]
		v.slabs[i] = c
	} else {
		i = int32(len(v.slabs))
		v.slabs = append(v.slabs, c)
	}
	v.freeBlocks += int64(n)
	v.freeBytes += int64(n * size)
	v.tailBytes += int64(bytes - n*size)
	v.link(i)
	return i
}

// remove forgets slab i, all of whose blocks are free.
func (v *carver[M]) remove(i int32, bytes int) M {
	c := &v.slabs[i]
	mem, n := c.mem, int(c.n)
	v.unlink(i)
	v.freeBlocks -= int64(n)
	v.freeBytes -= int64(n * c.size)
	v.tailBytes -= int64(bytes - n*c.size)
	*c = carved[M]{}
	v.vacant = append(v.vacant, i)
	return mem
}

// take returns a free block of the class for n bytes: its slab and offset there.
func (v *carver[M]) take(class, n int) (slab int32, off int, ok bool) {
	k := &v.classes[class]
	i := k.partial
	if i == 0 {
		return 0, 0, false
	}
	c := &v.slabs[i]
	for c.free[c.hint] == 0 {
		c.hint++
	}
	w := &c.free[c.hint]
	slot := int(c.hint)<<6 + bits.TrailingZeros64(*w)
	*w &= *w - 1
	c.spare[slot] = uint16(c.size - n)
	if c.nfree--; c.nfree == 0 {
		v.unlink(i)
	}
	k.live++
	v.freeBlocks--
	v.freeBytes -= int64(c.size)
	return i, slot * c.size, true
}

// out reports whether the block at off of slab i is one and is out, for n bytes.
func (v *carver[M]) out(i int32, off, n int) bool {
	c := &v.slabs[i]
	slot := off / c.size
	return off >= 0 && off%c.size == 0 && slot < int(c.n) && c.free[slot>>6]>>(slot&63)&1 == 0 &&
		n == c.size-int(c.spare[slot])
}

// give takes the block back and reports whether its slab is wholly free now.
func (v *carver[M]) give(i int32, off int) (whole bool) {
	c := &v.slabs[i]
	slot := off / c.size
	c.free[slot>>6] |= 1 << (slot & 63)
	c.hint = min(c.hint, int32(slot>>6))
	if c.nfree++; c.nfree == 1 {
		v.link(i)
	}
	v.classes[c.class].live--
	v.freeBlocks++
	v.freeBytes += int64(c.size)
	return c.nfree == c.n
}

func (v *carver[M]) link(i int32) {
	c := &v.slabs[i]
	k := &v.classes[c.class]
	c.prev, c.next = 0, k.partial
	if c.next != 0 {
		v.slabs[c.next].prev = i
	}
	k.partial = i
}

func (v *carver[M]) unlink(i int32) {
	c := &v.slabs[i]
	if c.next != 0 {
		v.slabs[c.next].prev = c.prev
	}
	if c.prev != 0 {
		v.slabs[c.prev].next = c.next
	} else {
		v.classes[c.class].partial = c.next
	}
	c.next, c.prev = 0, 0
}

// spare reports whether the class of slab i has free blocks elsewhere.
func (v *carver[M]) spare(i int32) bool {
	c := &v.slabs[i]
	return c.prev != 0 || c.next != 0
}
