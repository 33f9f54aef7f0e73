package percpu

import (
	"testing"

	"github.com/bufslab/bufslab/internal/invariants"
	"github.com/bufslab/bufslab/slab/internal/handle"
)

// panics reports whether f does.
func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// A check finds each single fault in the sums of a cpu, in check builds. What is closed is another goroutine's, and not
// looked at.
func TestChecksFindEachFault(t *testing.T) {
	const size = 1024
	for fault, damage := range map[string]func(p *cpu, k, other *ClassCache, spare handle.Entry){
		"bytes granted, not counted": func(p *cpu, _, _ *ClassCache, _ handle.Entry) { p.granted -= size },
		"bytes counted, not granted": func(p *cpu, _, _ *ClassCache, _ handle.Entry) { p.granted += size },
		"a limit below the blocks": func(p *cpu, k, _ *ClassCache, _ handle.Entry) {
			p.granted += int64(k.n()-1-k.limit.Load()) * size
			k.limit.Store(k.n() - 1)
		},
		"fewer than no blocks": func(_ *cpu, _, other *ClassCache, _ handle.Entry) {
			other.previous, other.nprevious = new(magazine), -1
			other.limit.Add(1) // which are as many bytes
		},
		"more than a magazine has": func(p *cpu, k, _ *ClassCache, spare handle.Entry) {
			k.previous.entries[magazineSlots-1], k.nprevious = spare, magazineSlots+1
			p.granted += 2 * size
		},
		"a block beyond the loaded ones": func(_ *cpu, k, _ *ClassCache, spare handle.Entry) { k.loaded.entries[k.n()] = spare },
		"a loaded block less":            func(_ *cpu, k, _ *ClassCache, _ handle.Entry) { k.loaded.entries[0].Slot = nil },
		"a block beyond those below": func(_ *cpu, k, _ *ClassCache, spare handle.Entry) {
			k.previous.entries[magazineSlots-1] = spare
		},
		"a block less below": func(_ *cpu, k, _ *ClassCache, _ handle.Entry) { k.previous.entries[0].Slot = nil },
		"a block in an empty magazine": func(_ *cpu, _, other *ClassCache, spare handle.Entry) {
			other.previous = &magazine{entries: [magazineSlots]handle.Entry{spare}}
		},
		"a loaded block of another class": func(_ *cpu, k, other *ClassCache, _ handle.Entry) {
			k.loaded.entries[0] = other.loaded.entries[0]
		},
	} {
		s := oneCPU(t, Options{Largest: 4 << 10, Bytes: 1 << 20, Depot: 1 << 20})
		burst(t, s, 40, size)
		burst(t, s, 1, size/2)
		k, other, p := s.At(0, s.Class(size)), s.At(0, s.Class(size/2)), &s.cpus[0]
		p.granted -= size // for the spare block
		k.nprevious--
		spare := k.previous.entries[k.nprevious]
		k.previous.entries[k.nprevious] = handle.Entry{}
		if p.mustAgree(); k.n() != 8 || k.nprevious != 31 || other.n() != 1 {
			t.Fatalf("%d, %d and %d blocks", k.n(), k.nprevious, other.n())
		}
		if damage(p, k, other, spare); !panics(p.mustAgree) || panics(p.check) != invariants.Enabled {
			t.Errorf("%s: found %t, in this build %t", fault, panics(p.mustAgree), panics(p.check))
		}
		s.At(0, 0).limit.Store(^0)
		if panics(p.mustAgree) {
			t.Errorf("%s: found where class caches are closed", fault)
		}
	}
}
