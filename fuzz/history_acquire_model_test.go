package fuzz_test

import "github.com/anishathalye/porcupine"

const (
	acquire  call = "Acquire"
	clearAll call = "Clear" // noted once for each key, as Clear takes one after the other
)

const keysOfAPool = 3

// A want is a call of a key. A lease writes its mark, which nobody else writes.
type want struct {
	call      call
	pool, key int
	size      int64
	mark      uint64
	patient   bool // the context is not done
}

// A lent has the mark that a lease has found: 0 in fresh memory, which is cleared.
type lent struct {
	outcome
	found uint64
}

// tenants are what a model knows of all pools, and a tenant what it knows of a key.
type tenants struct {
	used int64    // bytes of the budget, of leases and of the slab.Pool's buffers
	by   [2]int64 // bytes of leases, by pool
	keys [2][keysOfAPool]tenant
}

type tenant struct {
	leased bool
	size   int64  // of the buffer, at least
	mark   uint64 // in the buffer, 0 if the key has none
}

// tenantsOf is pools of keys, of most bytes each, and a slab.Pool. The buffer of a key that is
// not leased may go at any time, as others need room: it does not count, and its mark may
// be gone.
func tenantsOf(most int64) porcupine.Model {
	plain := budgetOf(budget, true)
	return porcupine.Model{
		Init: func() any { return tenants{} },
		Step: func(state, in, out any) (bool, any) {
			s := state.(tenants)
			if i, is := in.(input); is {
				ok, used := plain.Step(s.used, i, out)
				s.used = used.(int64)
				return ok, s
			}
			ok := s.step(in.(want), out.(lent), most)
			return ok, s
		},
	}
}

func (s *tenants) step(w want, r lent, most int64) (ok bool) {
	k := &s.keys[w.pool][w.key]
	switch {
	case w.call == clearAll:
		k.mark = 0 // a lease's goes when it ends
		return true
	case w.call == release:
		s.count(w.pool, -k.size)
		ok, k.leased = k.leased, false
		return ok
	case r.outcome == gaveUp:
		return !w.patient
	case r.outcome == noRoom: // who gives up in the end has room of the pool's meanwhile
		return w.size > budget || most < budget
	case k.leased || r.found != 0 && r.found != k.mark:
		return false
	case r.found == 0:
		k.size = 0
	}
	*k = tenant{true, max(k.size, w.size), w.mark}
	s.count(w.pool, k.size)
	return s.used <= budget && s.by[w.pool] <= most
}

func (s *tenants) count(pool int, bytes int64) {
	s.used += bytes
	s.by[pool] += bytes
}
