package vet

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// A cell is a variable that lives in memory, as function literals use it, and whose
// address goes nowhere else. Other variables are values in SSA.
type cell struct {
	body    *body
	address ssa.Value // *ssa.Alloc, or *ssa.FreeVar in a literal
	stores  []*ssa.Store
	// outside: a literal writes to it that may run at any time.
	outside bool
	// deferred: a literal writes to it that runs when the function ends.
	deferred bool
}

// cell returns the cell at an address, nil if it is none.
func (b *body) cell(address ssa.Value) *cell {
	switch address.(type) {
	case *ssa.Alloc, *ssa.FreeVar:
	default:
		return nil
	}
	if c, known := b.cells[address]; known {
		return c
	}
	c := &cell{body: b, address: address}
	if !c.fill() {
		c = nil
	}
	b.cells[address] = c
	return c
}

// fill looks at what is done with the address, and says whether it goes nowhere.
func (c *cell) fill() bool {
	for _, r := range *c.address.Referrers() {
		switch r := r.(type) {
		case *ssa.Store:
			if r.Addr != c.address {
				return false
			}
			c.stores = append(c.stores, r)
		case *ssa.UnOp: // a load
		case *ssa.MakeClosure:
			if !c.fillLiteral(r) {
				return false
			}
		case *ssa.DebugRef:
		default:
			return false
		}
	}
	return true
}

func (c *cell) fillLiteral(closure *ssa.MakeClosure) bool {
	f := closure.Fn.(*ssa.Function)
	for i, binding := range closure.Bindings {
		if binding != c.address {
			continue
		}
		inner := c.body.c.body(f).cell(f.FreeVars[i])
		if inner == nil {
			return false
		}
		if len(inner.stores) > 0 || inner.outside || inner.deferred {
			c.outside = c.outside || !onlyDeferred(closure)
			c.deferred = true
		}
	}
	return true
}

// onlyDeferred says whether a literal runs when the function ends, and at no other time.
func onlyDeferred(closure *ssa.MakeClosure) bool {
	for _, r := range *closure.Referrers() {
		d, ok := r.(*ssa.Defer)
		if !ok || d.Call.Value != closure {
			return false
		}
	}
	return true
}

// valueAt returns the value of a cell where an instruction is: what was stored last, or
// the address, for all values that it may have there.
func (c *cell) valueAt(at ssa.Instruction) ssa.Value {
	if c.outside {
		if load, ok := at.(ssa.Value); ok {
			return load // a value of its own, of which nothing is known
		}
		return c.address
	}
	if v := c.lastStored(at); v != nil {
		return v
	}
	if _, isAlloc := c.address.(*ssa.Alloc); isAlloc && len(c.stores) == 1 && !c.deferred {
		return c.stores[0].Val
	}
	return c.address
}

// lastStored walks back from an instruction, as long as there is one way, to a store. No such way leads in a
// circle: nothing would lead into that.
func (c *cell) lastStored(at ssa.Instruction) ssa.Value {
	block := at.Block()
	i := position(at)
	for {
		for i--; i >= 0; i-- {
			switch instr := block.Instrs[i].(type) {
			case *ssa.Store:
				if instr.Addr == c.address {
					return instr.Val
				}
			case *ssa.RunDefers:
				if c.deferred {
					return nil
				}
			case *ssa.Alloc:
				if instr == c.address {
					return nil
				}
			}
		}
		if len(block.Preds) != 1 {
			return nil
		}
		block = block.Preds[0]
		i = len(block.Instrs)
	}
}

func position(at ssa.Instruction) int { return slices.Index(at.Block().Instrs, at) }
