package vet

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// given adds to a path what holds wherever a block runs: conditions that alone lead there. So a program that gets a
// buffer in one `if` may release it in another one, if that asks for the same.
func (w *walk) given(p *way, block *ssa.BasicBlock) {
	for at := block.Idom(); at != nil; at = at.Idom() {
		branch, ok := at.Instrs[len(at.Instrs)-1].(*ssa.If)
		if !ok {
			continue
		}
		for i, next := range at.Succs {
			if len(next.Preds) == 1 && next.Dominates(block) {
				w.assume(p, branch.Cond, i == 0)
			}
		}
	}
}

// assume adds to a path that a condition was true, or false. What is known already is of later.
func (w *walk) assume(p *way, cond ssa.Value, yes bool) {
	for not, ok := cond.(*ssa.UnOp); ok && not.Op == token.NOT; not, ok = cond.(*ssa.UnOp) {
		cond, yes = not.X, !yes
	}
	if cond = w.resolve(p.phis, cond); w.b.cell(cond) != nil {
		return
	}
	f, equal := w.fact(p, cond)
	if _, known := p.known[f]; !known {
		p.known[f] = yes == equal
	}
}

// ordered returns the fact of a comparison by order, or of two values of which none is a constant: what x is like. Two
// comparisons of the same have the same fact.
func (w *walk) ordered(c *ssa.BinOp, x, y ssa.Value) (f fact, equal bool) {
	op := c.Op
	if !isConst(y) && stays(x) && (isConst(x) || !stays(y) || x.Name() > y.Name()) {
		x, y, op = y, x, mirrored(op)
	}
	root, path := w.place(x)
	if !stays(y) || isConst(x) || w.b.cell(root) != nil {
		return fact{v: c}, true
	}
	text := y.Name()
	if k, ok := y.(*ssa.Const); ok {
		text = textOf(k)
	}
	switch op {
	case token.LSS, token.GTR, token.EQL:
		return fact{root, fmt.Sprint(path, op, text)}, true
	case token.LEQ:
		return fact{root, fmt.Sprint(path, token.GTR, text)}, false
	case token.GEQ:
		return fact{root, fmt.Sprint(path, token.LSS, text)}, false
	case token.NEQ:
		return fact{root, fmt.Sprint(path, token.EQL, text)}, false
	}
	return fact{v: c}, true
}

// mirrored is the operator that says the same with its operands exchanged.
func mirrored(op token.Token) token.Token {
	switch op {
	case token.LSS:
		return token.GTR
	case token.GTR:
		return token.LSS
	case token.LEQ:
		return token.GEQ
	case token.GEQ:
		return token.LEQ
	}
	return op
}

// stays says whether a value is the same all the time that the function runs.
func stays(v ssa.Value) bool {
	_, isParameter := v.(*ssa.Parameter)
	return isParameter || isConst(v)
}

func isConst(v ssa.Value) bool {
	_, ok := v.(*ssa.Const)
	return ok
}

// place returns where a value is read, if that is a field: of what, and which one. A field counts as the same all the
// time if the function neither writes to it nor waits for others, which might.
func (w *walk) place(v ssa.Value) (root ssa.Value, path string) {
	switch v := v.(type) {
	case *ssa.Field:
		root, path = w.place(v.X)
		return root, fmt.Sprint(path, ".", v.Field)
	case *ssa.FieldAddr:
		root, path = w.place(v.X)
		return root, fmt.Sprint(path, ".", v.Field)
	case *ssa.UnOp:
		if field, ok := v.X.(*ssa.FieldAddr); ok && v.Op == token.MUL && !w.b.changes(field) {
			return w.place(field)
		}
	}
	return v, ""
}

// changes says whether the function may see a field change: it waits, or writes to that field of any such struct.
func (b *body) changes(field *ssa.FieldAddr) bool {
	is, known := b.changing[field]
	if !known {
		is = b.waits() || slices.ContainsFunc(b.fn.Blocks, func(block *ssa.BasicBlock) bool {
			return slices.ContainsFunc(block.Instrs, func(instr ssa.Instruction) bool { return writesTo(instr, field) })
		})
		b.changing[field] = is
	}
	return is
}

// writesTo says whether an instruction stores to a field of any struct of its type, or to the whole.
func writesTo(instr ssa.Instruction, field *ssa.FieldAddr) bool {
	store, ok := instr.(*ssa.Store)
	if !ok {
		return false
	}
	of, at := field.X.Type(), store.Addr
	if to, ok := at.(*ssa.FieldAddr); ok && to.Field == field.Field && types.Identical(to.X.Type(), of) {
		return true
	}
	return types.Identical(at.Type(), of)
}
