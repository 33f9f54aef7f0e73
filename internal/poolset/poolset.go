// Package poolset knows the pools of the process, without keeping any alive. Package slab enters them,
// package pressure shows them.
package poolset

import (
	"maps"
	"runtime"
	"slices"
	"sync"
	"weak"
)

// A Member is a pool, whether a program has it still or only buffers of it are left.
type Member interface {
	// Front returns what the program has, a *slab.Pool. It is nil if that was closed or forgotten.
	Front() any
	// GiveNow gives back held memory without a wait, also what keepers of the pool's buffers release.
	GiveNow()
	// OffHeapBytes returns the managed bytes of host memory that the collector does not see.
	OffHeapBytes() int64
	// OffHeapActive returns the active bytes of such memory.
	OffHeapActive() int64
}

var all = struct {
	sync.Mutex // leaf
	last       uint64
	members    map[uint64]func() Member
}{members: map[uint64]func() Member{}}

// Add enters p until the collector finds it unreachable.
func Add[T any, P interface {
	*T
	Member
}](p P) {
	w := weak.Make((*T)(p))
	all.Lock()
	defer all.Unlock()
	all.last++
	all.members[all.last] = func() Member {
		if p := w.Value(); p != nil {
			return P(p)
		}
		return nil
	}
	runtime.AddCleanup((*T)(p), remove, all.last)
}

func remove(id uint64) {
	all.Lock()
	defer all.Unlock()
	delete(all.members, id)
}

// All returns the members in the order in which they came.
func All() (list []Member) {
	all.Lock()
	defer all.Unlock()
	for _, id := range slices.Sorted(maps.Keys(all.members)) {
		if m := all.members[id](); m != nil {
			list = append(list, m)
		}
	}
	return list
}

// OffHeapBytes adds up those of all members.
func OffHeapBytes() int64 { return sum(Member.OffHeapBytes) }

// OffHeapActive adds up those of all members.
func OffHeapActive() int64 { return sum(Member.OffHeapActive) }

func sum(of func(Member) int64) (n int64) {
	for _, m := range All() {
		n += of(m)
	}
	return n
}
