package vet

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// releasesAlways returns the kind of an argument that the function releases on every path,
// nil if it does not. Paths that end in a panic do not count, nor those where the value is
// nil or not worth keeping by its length.
func (b *body) releasesAlways(argument ssa.Value) *kind {
	ends := map[*ssa.BasicBlock]bool{}
	var k *kind
	for _, block := range b.fn.Blocks {
		if found := b.releasedIn(block, argument); found != nil {
			ends[block] = true
			k = found
		}
	}
	if k == nil || !b.onEveryPath(argument, ends, k) {
		return nil
	}
	return k
}

// releasedIn returns the kind of an argument that a block releases, by defer too, or nil.
func (b *body) releasedIn(block *ssa.BasicBlock, argument ssa.Value) *kind {
	for _, instr := range block.Instrs {
		call, ok := instr.(ssa.CallInstruction)
		if !ok {
			continue
		}
		if _, isGo := instr.(*ssa.Go); isGo {
			continue
		}
		for _, e := range b.endsOf(b.call(call), instr) {
			if e.base == argument {
				return e.end.kind
			}
		}
	}
	return nil
}

// endsOf lists what a call ends without a condition. Counted memory is the callers', so
// it is left out, and so are resets.
func (b *body) endsOf(call *call, at ssa.Instruction) (all []effect) {
	if call.is(reset, grow) {
		return nil
	}
	for _, e := range b.effects(call, at) {
		if !e.end.kind.counted && !(e.end.kind == bytes && e.end.unless != nil) {
			all = append(all, e)
		}
	}
	return all
}

// onEveryPath says whether all ways through the function lead through one of some blocks.
func (b *body) onEveryPath(argument ssa.Value, ends map[*ssa.BasicBlock]bool, k *kind) bool {
	missed := map[*ssa.BasicBlock]bool{} // from here an end can be missed
	for changed := true; changed; {
		changed = false
		for _, block := range b.fn.Blocks {
			if !missed[block] && !ends[block] && b.misses(block, argument, missed, k) {
				missed[block], changed = true, true
			}
		}
	}
	return !missed[b.fn.Blocks[0]]
}

func (b *body) misses(block *ssa.BasicBlock, argument ssa.Value, missed map[*ssa.BasicBlock]bool, k *kind) bool {
	switch last := block.Instrs[len(block.Instrs)-1].(type) {
	case *ssa.Return:
		return true
	case *ssa.If:
		yes, no := missed[block.Succs[0]], missed[block.Succs[1]]
		if b.asksForWorth(last.Cond, argument, k) {
			return yes && no
		}
		return yes || no
	}
	return len(block.Succs) > 0 && missed[block.Succs[0]]
}

// asksForWorth says whether a condition is about a value itself: whether it is nil, or
// larger than what a pool keeps. A slice of GetBytes without capacity can be put twice.
func (b *body) asksForWorth(cond, argument ssa.Value, k *kind) bool {
	c, ok := cond.(*ssa.BinOp)
	if !ok {
		return false
	}
	if v, _, isNil := comparedWithNil(c); isNil {
		return b.base(v) == argument
	}
	if k == bytes || b.canRefuse() {
		return false
	}
	return b.asksForSize(c, argument) || (c.Op == token.EQL || c.Op == token.NEQ) && b.comparesSize(c, argument)
}

// asksForSize says whether a condition is that a value is larger than something.
func (b *body) asksForSize(cond, argument ssa.Value) bool {
	c, ok := cond.(*ssa.BinOp)
	if !ok {
		return false
	}
	switch c.Op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		return b.comparesSize(c, argument)
	}
	return false
}

func (b *body) comparesSize(c *ssa.BinOp, argument ssa.Value) bool {
	return b.isSizeOf(c.X, argument) || b.isSizeOf(c.Y, argument)
}

// canRefuse says whether the function returns an error: it may tell its caller that it has
// not taken a value.
func (b *body) canRefuse() bool {
	results := b.fn.Signature.Results()
	return results.Len() > 0 && isError(results.At(results.Len()-1).Type())
}

// isSizeOf says whether a number is the length of a value, or of what is in it.
func (b *body) isSizeOf(v, argument ssa.Value) bool {
	instr, ok := v.(*ssa.Call)
	if !ok {
		return false
	}
	call := b.call(instr)
	switch call.name() {
	case "Len", "Cap":
	default:
		if !isLength(call) {
			return false
		}
	}
	return len(call.args) > 0 && b.inside(call.args[0], argument)
}

// inside says whether a value is another, or was read from it.
func (b *body) inside(v, of ssa.Value) bool {
	for {
		base := b.base(v)
		if base == of {
			return true
		}
		load, ok := base.(*ssa.UnOp)
		if !ok {
			return false
		}
		v = load.X
	}
}
