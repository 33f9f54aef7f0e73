package vet

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A life is the fact about a function that other packages need: what it does with the lives
// of its arguments and its result. The receiver is argument 0.
type life struct {
	// Ends has the kinds of the arguments that it releases on every path, by their numbers, "" for the others. A map
	// would be encoded in another order each time.
	Ends    []string
	Borrows []int  // arguments that it neither releases nor keeps
	Owned   string // the kind of its first result, if the caller owns that
}

// AFact marks a life as a fact.
func (*life) AFact() {}

// String describes the fact for tests.
func (l *life) String() string {
	var parts []string
	for i, noun := range l.Ends {
		if noun != "" {
			parts = append(parts, fmt.Sprintf("releases %d", i))
		}
	}
	for _, i := range l.Borrows {
		parts = append(parts, fmt.Sprintf("borrows %d", i))
	}
	if l.Owned != "" {
		parts = append(parts, "returns its own "+l.Owned)
	}
	return strings.Join(parts, ", ")
}

// ends notes that it releases an argument.
func (l *life) ends(i int, noun string) {
	l.Ends = append(l.Ends, make([]string, i+1-len(l.Ends))...)
	l.Ends[i] = noun
}

func (l *life) empty() bool { return len(l.Ends) == 0 && len(l.Borrows) == 0 && l.Owned == "" }

func (l *life) equal(m *life) bool {
	return slices.Equal(l.Ends, m.Ends) && slices.Equal(l.Borrows, m.Borrows) && l.Owned == m.Owned
}

// kinds are those that facts name.
var kinds = []*kind{handle, bytes, writer, reader, pieces, pooled, refcount}

func kindOf(noun string) *kind {
	for _, k := range kinds {
		if k.noun == noun {
			return k
		}
	}
	return nil
}

// releases returns the arguments that the function releases, with their kinds.
func (l *life) releases() map[int]*kind {
	if l == nil {
		return nil
	}
	out := map[int]*kind{}
	for i, noun := range l.Ends {
		if k := kindOf(noun); k != nil {
			out[i] = k
		}
	}
	return out
}

func (l *life) borrows(i int) bool { return slices.Contains(l.Borrows, i) }

// owned returns the kind of a result that the caller owns, or nil.
func (l *life) owned() *kind { return kindOf(l.Owned) }

// imported returns the fact about a function of another package, nil if there is none.
func (c *checker) imported(f *types.Func) *life {
	f = f.Origin()
	if f.Pkg() == nil || f.Pkg() == c.pass.Pkg {
		return nil
	}
	if l, known := c.facts[f]; known {
		return l
	}
	l := new(life)
	if !c.pass.ImportObjectFact(f, l) {
		l = nil
	}
	c.facts[f] = l
	return l
}

// lifeOf returns what is known of a function of this package or another, or nil.
func (c *checker) lifeOf(f *ssa.Function) *life {
	if f.Origin() != nil {
		f = f.Origin()
	}
	if l := c.lives[f]; l != nil {
		return l
	}
	if object, ok := f.Object().(*types.Func); ok {
		return c.imported(object)
	}
	return nil
}

// exportFacts tells other packages of the functions of this one.
func (c *checker) exportFacts(functions []*ssa.Function) {
	for _, f := range functions {
		l := c.lives[f]
		object, ok := f.Object().(*types.Func)
		if l != nil && ok && object.Exported() && !l.empty() && c.rule(object) == nil {
			c.pass.ExportObjectFact(object, l)
		}
	}
}
