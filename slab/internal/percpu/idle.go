package percpu

import "math"

// What was not needed since the last reclaim. A class cache is a stack, of which the loaded
// magazine is the top: so what lay at its bottom then, and lies there now, was spare. A hit need
// not count how deep it goes.

// A sight is what a reclaim has seen of a class cache.
type sight struct {
	touched uint32
	depth   int32  // of the bottom magazine: what the next reclaim may take
	block   uint64 // the uppermost of these, or 0; see peek
}

// everything is for a class cache that was not used: it loses what it may hold, too.
const everything = math.MaxInt32

// look prepares for the next reclaim. That may take the previous magazine, or half of the
// loaded one.
func look(k *ClassCache) sight {
	depth := k.nprevious
	if depth == 0 {
		depth = (k.n() + 1) / 2
	}
	return sight{k.touched(), depth, k.bottom().peek(depth)}
}

// unneeded returns how many blocks, from the bottom, of a class cache were not needed since
// it was looked at.
func (s *sight) unneeded(k *ClassCache) int32 {
	switch {
	case s.touched == k.touched():
		return everything
	case s.block != 0 && s.block == k.bottom().peek(s.depth):
		return s.depth
	}
	return 0
}
