package vet

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// isListed says whether an instruction is the part of an append that has a value, where the function returns the list,
// or keeps it in a variable of the function that it is in.
func (b *body) isListed(store *ssa.Store) bool {
	users, _ := listUsers(store)
	return slices.ContainsFunc(users, func(user ssa.Instruction) bool {
		list, isCall := user.(*ssa.Call)
		return isCall && isAppend(list) && b.outlivesCall(list)
	})
}

// outlivesCall says whether a list is returned, or stored in a captured variable.
func (b *body) outlivesCall(list *ssa.Call) bool {
	t := newTracer(b.c)
	t.follow(list)
	if t.fate.returned {
		return true
	}
	for v := range t.seen {
		for _, r := range *v.Referrers() {
			if store, ok := r.(*ssa.Store); ok && store.Val == v {
				if _, captured := store.Addr.(*ssa.FreeVar); captured {
					return true
				}
			}
		}
	}
	return false
}
