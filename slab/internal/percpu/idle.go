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
func (p *cpu) look() {
	for i := range p.caches {
		k := &p.caches[i]
		depth := k.nprevious
		if depth == 0 {
			depth = (k.n() + 1) / 2
		}
		p.seen[i] = sight{k.touched(), depth, k.bottom().peek(depth)}
	}
}

// unneeded returns how many blocks, from the bottom, of class cache i were not needed since
// the last look.
func (p *cpu) unneeded(i int) int32 {
	k, was := &p.caches[i], &p.seen[i]
	switch {
	case was.touched == k.touched():
		return everything
	case was.block != 0 && was.block == k.bottom().peek(was.depth):
		return was.depth
	}
	return 0
}

// bottom returns the magazine whose blocks are used last.
func (k *ClassCache) bottom() *magazine {
	if k.nprevious > 0 {
		return k.previous
	}
	return k.loaded
}

// peek returns a number that the nth block of a magazine alone has, until its next owner
// releases it; 0 where there is no block.
func (m *magazine) peek(n int32) uint64 {
	if m == nil || n == 0 {
		return 0
	}
	s := m.entries[(n-1)%magazineSlots].Slot
	if s == nil {
		return 0
	}
	return uint64(s.ID()) ^ s.Generation()
}

// takeBottom takes n blocks from the bottom magazine of a closed class cache, whose limit falls by
// n, and links them to out.
func (c *Cache) takeBottom(p *cpu, class int, n int32, out *magazine) *magazine {
	k := &p.caches[class]
	m := k.bottom().cut(n)
	m.class, m.next = int32(class), out
	if k.nprevious > 0 {
		k.nprevious -= n
	} else {
		k.setN(k.n() - n)
		k.limit.Add(n) // it is ^limit now
	}
	k.moved -= int64(n)
	p.granted -= int64(n) * c.BlockBytes(class)
	return m
}

// cut returns a magazine of the first n blocks of m, which loses them.
func (m *magazine) cut(n int32) *magazine {
	out := &magazine{n: n}
	copy(out.entries[:n], m.entries[:])
	rest := copy(m.entries[:], m.entries[n:])
	clear(m.entries[rest:])
	return out
}
