package slab

import (
	"sync/atomic"
	"unsafe"

	"github.com/bufslab/bufslab/internal/pin"
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
// its magazine and has made sure, by a barrier, that the processor knows. From then on such slots are
// everybody's, to be released by compare-and-swap, and so are those that the
// magazine hands out, until some collection gives it another bias. No number is
// used twice.
//
// It is biased locking (Kawachiya, Koseki and Onodera, OOPSLA 2002) for a word
// that is never locked, with the barrier that they had to do without.

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

// share makes the word of s everybody's.
func (s *slot) share() {
	if s.marked() != 0 {
		s.rack().pool.cache.revoke(s)
	}
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
		if m := k.magazine(i, int(s.class)); m != nil && m.bias.CompareAndSwap(bias, 0) {
			k.settle(m)
			m.times = min(m.times+1, 7)
			m.calm = 1<<m.times - 1
		}
	}
	atomic.CompareAndSwapUint32(&s.bias, bias, 0) // it may be somebody else's slot by now
}

// rebias gives a bias to each magazine that has none. One that had it taken
// waits for that, each time for twice as many collections, up to 128: barriers
// are not free, and some classes are always released elsewhere.
func (k *cache) rebias() {
	if !biasing || !pin.HasBarrier() {
		return
	}
	k.shutting.Lock()
	defer k.shutting.Unlock()
	for i := range k.mags {
		switch m := &k.mags[i]; {
		case m.bias.Load() != 0:
		case m.calm > 0:
			m.calm--
		default:
			m.bias.Store(k.biases.Add(1))
		}
	}
}
