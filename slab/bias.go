package slab

import (
	"math"
	"sync/atomic"
	"unsafe"
)

// Of all Releases of a buffer one has to win, whoever calls them from wherever.
// A compare-and-swap decides that, and costs as much as all else that a Release
// does: it waits until the stores before it are done.
//
// Most buffers are released on the processor that they were got on. So a
// magazine is biased: it marks each slot that it hands out with a number, its
// bias, and a Release that is pinned to the magazine's processor and finds the
// mark reads and writes the slot's word as if it were alone. It is: nobody else
// may change the word of a slot with a mark before he has taken that bias from
// its magazine and has made sure, by a barrier, that the processor knows. From
// then on such slots are everybody's, to be released by compare-and-swap, and so
// are those that the magazine hands out, until it has another bias. No number is
// used twice.
//
// It is lock reservation (Kawachiya, Koseki and Onodera, OOPSLA 2002), later
// called biased locking, for a word that is never locked.

// marked returns the bias that s is marked with, or 0.
func (s *slot) marked() uint32 {
	if !biasing {
		return 0
	}
	return s.bias
}

// ends ends the generation gen of s, which is marked with bias, if that is of m
// still and the generation, too. The caller has entered; m is of the slot's class.
func (m *magazine) ends(s *slot, bias uint32, gen uint64) (won bool) {
	m.busy = 1
	if m.bias.Load() == bias && s.word.Load() == gen {
		*(*uint64)(unsafe.Pointer(&s.word)) = gen + nextGen
		won = true
	}
	m.busy = 0
	return won
}

// unmark is for who hands s out otherwise than by a magazine. Nobody has it.
func (s *slot) unmark() { s.bias = 0 }

// share makes the word of s everybody's, unless gen is over: who comes too
// late leaves the mark to the next owner.
func (s *slot) share(gen uint64) bool {
	if s.marked() == 0 {
		return true
	}
	if s.word.Load()&^pinMask != gen {
		return false
	}
	s.rack().pool.cache.revoke(s)
	return true
}

// revoke takes the bias with which s is marked from whatever magazine has it,
// and the mark from s.
func (k *cache) revoke(s *slot) {
	k.shutting.Lock()
	defer k.shutting.Unlock()
	bias := atomic.LoadUint32(&s.bias)
	if bias == 0 {
		return
	}
	for i := range k.shards {
		if m := k.magazine(i, int(s.class)); m != nil && m.bias.Load() == bias {
			m.due = m.hits() + rebiasAfter<<m.taken
			m.taken = min(m.taken+1, 8)
			k.renew(&k.shards[i])
		}
	}
	atomic.CompareAndSwapUint32(&s.bias, bias, 0) // it may be somebody else's slot by now
}

// renew takes the biases of all magazines of s, and gives those that are to have
// one others. Who releases a buffer elsewhere has moved there as a rule, and will
// release all that he has: one barrier then does for all.
func (k *cache) renew(s *shard) {
	for i := range s.mags {
		s.mags[i].bias.Store(0)
	}
	k.settle(s)
	for i := range s.mags {
		k.rebias(&s.mags[i])
	}
}

// rebiasAfter is how many hits a magazine of which a bias was taken has to make for
// another one, the first time; then twice as many, and so on. A barrier is not free,
// and some classes are always released elsewhere.
const rebiasAfter = 4096

// rebias gives m a bias if it has none and it is time, and there are numbers left.
func (k *cache) rebias(m *magazine) {
	if !k.biased || m.bias.Load() != 0 || int32(m.hits()-m.due) < 0 {
		return
	}
	if n := k.biases.Add(1); n <= math.MaxUint32 {
		m.bias.CompareAndSwap(0, uint32(n)) // the first of its own processor and a collection
	}
}

// rebiasAll is for magazines that nobody finds empty.
func (k *cache) rebiasAll() {
	for i := range k.mags {
		k.rebias(&k.mags[i])
	}
}
