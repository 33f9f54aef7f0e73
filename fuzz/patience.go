package fuzz

import "pgregory.net/rapid"

// patience counts the steps of a program that could not be taken. Rapid draws
// another step in place of one that is skipped before it draws anything, and
// takes a hundred in a row for a mistake of the check; a native fuzzer, whose
// input likes to repeat itself, gets there easily.
type patience struct{ skips int }

// skip ends a step that cannot be taken. Now and then it draws something
// first, which makes the step count as taken in vain.
func (p *patience) skip(t *rapid.T, why string) {
	if p.skips++; p.skips%50 == 0 {
		rapid.Bool().Draw(t, "lost patience")
	}
	t.Skip(why)
}
