package percpu

import "math"

// Blocks that were not needed since the last reclaim. A class cache is a stack, and the loaded
// magazine is its top: so blocks that lay at the bottom then, and lie there now, were spare. A hit
// need not count how deep it goes.

// A sight is the state of a class cache at a reclaim.
type sight struct {
	touched uint32
	depth   int32  // blocks of the bottom magazine that the next reclaim may take
	block   uint64 // the uppermost of these, or 0; see peek
}

// everything is for a class cache that was not used: it also loses its limit.
const everything = math.MaxInt32

// look prepares for the next reclaim, which may take the previous magazine, or half of the
// loaded one.
func look(k *ClassCache) sight {
	depth := k.nprevious
	if depth == 0 {
		depth = (k.n() + 1) / 2
	}
	return sight{k.touched(), depth, k.bottom().peek(depth)}
}

// unneeded returns the number of blocks, from the bottom of a class cache, that were not needed
// since the sight.
func (s *sight) unneeded(k *ClassCache) int32 {
	switch {
	case s.touched == k.touched():
		return everything
	case s.block != 0 && s.block == k.bottom().peek(s.depth):
		return s.depth
	}
	return 0
}
