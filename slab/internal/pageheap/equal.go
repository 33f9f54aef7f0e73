package pageheap

// A program that cuts its memory into large blocks of one size has few of them, and works long with
// each: a call upstream is nothing beside that, and head-room is a block or more of the device's memory.
// So while a heap has hardly anything else, and keeps it, a growth is by what is needed, whatever the miss
// budget is. Calls stay few: the first 32 blocks take one each, and from then on head-room is a 32nd, so that
// a thousand blocks take some 130.
const (
	// equalShare is the part of a block, as a divisor, by which another may differ to be equal: rows are
	// padded, and headers added.
	equalShare = 32
	// otherShare is the part of what is in use, as a divisor, that is not of equal blocks at most.
	otherShare = 8
)

// equals are large blocks of one size: those that have most of the memory in use, if there are such,
// else those that were asked for last.
type equals struct {
	size  int   // of the first
	taken int64 // bytes of all that were asked for since none was out
	out   int64 // of them, those that are out
}

func (e *equals) has(size int) bool {
	return size >= largeBlock && max(size-e.size, e.size-size) <= e.size/equalShare
}

// most reports whether they have most of the used bytes, and are most of what was asked for.
func (e *equals) most(used int64) bool {
	all := max(used, e.taken)
	return e.out > 0 && e.out >= all-all/otherShare
}

// grew tells of a block of size bytes to come, while used bytes are in use.
func (e *equals) grew(size int, used int64) {
	switch n := int64(size); {
	case e.has(size) && e.out > 0:
		e.taken += n
		e.out += n
	case size >= largeBlock && !e.most(used):
		*e = equals{size, n, n}
	}
}

func (e *equals) shrank(size int) {
	if e.has(size) {
		e.out = max(0, e.out-int64(size))
	}
}

// without returns them without a block of n bytes that is to come. One of another size is no matter
// for them, unless they are a single block: that has no equal.
func (e equals) without(n int) equals {
	switch {
	case e.has(n):
		e.taken -= int64(n)
		e.out -= int64(n)
	case e.out < 2*int64(e.size):
		e.out = 0
	}
	return e
}
