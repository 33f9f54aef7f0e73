package vet

import (
	"go/constant"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// A taking says whether a call that has a value as an argument has it for good.
type taking int

const (
	takes        taking = iota + 1
	takesIfWorks        // if it returns an error its caller has the value still
	borrows             // it comes back
)

// goesOn says whether a path has the value still behind an instruction that may end it.
func (s *search) goesOn(instr ssa.Instruction, f fate, p *way) bool {
	var unless fact
	switch instr := instr.(type) {
	case *ssa.Store:
		if s.kind.owned && s.fills(instr) {
			p.cell = instr.Addr
			return true
		}
	case *ssa.Select:
		unless = s.sent(instr)
	case *ssa.Call:
		how := takes
		if s.b.call(instr).is(grow, detach) {
			how = takesIfWorks
		} else if !f.released && !f.returned && !f.retained {
			how = s.taking(instr)
		}
		if how == borrows {
			return true
		}
		if err := lastError(instr); how == takesIfWorks && err != nil {
			unless = fact{s.b.base(err), null}
		}
	}
	if unless == (fact{}) || p.unless != (fact{}) {
		return false
	}
	p.unless = unless
	return true
}

// releasedAtEnd says whether only deferred literals end what is in a variable: what it has then.
func (s *search) releasedAtEnd(address ssa.Value) bool {
	found := false
	for _, r := range *address.Referrers() {
		if closure, ok := r.(*ssa.MakeClosure); ok && s.ends[closure].goes() {
			if !s.ends[closure].released || !isDeferred(closure) {
				return false
			}
			found = true
		}
	}
	return found
}

// endAt says what an instruction does with the value on a path. One that is about a Phi may be
// about another value there.
func (s *search) endAt(instr ssa.Instruction, p *way) fate {
	f, ok := s.ends[instr]
	if !ok || len(p.phis) == 0 {
		return f
	}
	w, other := &walk{b: s.b}, false
	for _, v := range instr.Operands(nil) {
		if *v == nil {
			continue
		}
		switch on := w.resolve(p.phis, *v); {
		case on == s.got:
			return f
		case on != s.b.base(*v):
			other = true
		}
	}
	if other {
		return fate{}
	}
	return f
}

// sent returns what holds where a select has sent the value.
func (s *search) sent(instr *ssa.Select) fact {
	for i, state := range instr.States {
		if state.Send == nil || s.b.base(state.Send) != s.got {
			continue
		}
		return fact{first(instr), constant.MakeInt64(int64(i)).ExactString()}
	}
	return fact{}
}

// taking finds out what a call of unknown code does with the value: a function that releases
// it afterwards has it still. One that does so only where the call has failed has it there.
func (s *search) taking(call *ssa.Call) taking {
	if how := s.takes[call]; how != 0 {
		return how
	}
	how := takes
	if s.releasedAfter(call, true) {
		how = borrows
	} else if lastError(call) != nil && s.releasedAfter(call, false) {
		how = takesIfWorks
	}
	s.takes[call] = how
	return how
}

// releasedAfter says whether a path leads from a call that works, or not, to a release. What the
// call says of itself otherwise may mean that it has not taken the value.
func (s *search) releasedAfter(call *ssa.Call, works bool) (found bool) {
	w := &walk{b: s.b, got: s.got, kind: s.kind, open: map[ssa.Value]bool{}}
	for _, v := range truths(call) {
		w.open[v] = true
	}
	w.visit = func(instr ssa.Instruction, p *way) bool {
		f := s.endAt(instr, p)
		found = found || f.released
		return !found && !f.returned && !f.retained && instr != s.call && instr != call
	}
	p := s.begin(call, works)
	for v := range w.open {
		delete(p.known, fact{v: v})
	}
	w.from(call, p)
	return found
}

// putsBack says whether any function of the package releases a value of a type.
func (c *checker) putsBack(got ssa.Value) bool {
	if c.back == nil {
		c.back = map[string]bool{}
		for f := range c.bodies {
			c.notesReleases(f)
		}
	}
	return c.back[typeOf(got)]
}

func (c *checker) notesReleases(f *ssa.Function) {
	b := c.body(f)
	for _, block := range f.Blocks {
		for _, instr := range block.Instrs {
			call, ok := instr.(ssa.CallInstruction)
			if !ok {
				continue
			}
			if described := b.call(call); described.is(release) && described.subject() != nil {
				c.back[typeOf(described.subject())] = true
			}
		}
	}
}

// typeOf names the type of a value that a pool has as any.
func typeOf(v ssa.Value) string {
	if made, ok := v.(*ssa.MakeInterface); ok {
		v = made.X
	}
	if _, isInterface := v.Type().Underlying().(*types.Interface); isInterface && v.Referrers() != nil {
		for _, r := range *v.Referrers() {
			if assert, ok := r.(*ssa.TypeAssert); ok {
				return assert.AssertedType.String()
			}
		}
	}
	return v.Type().String()
}
