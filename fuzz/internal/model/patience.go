package model

import "pgregory.net/rapid"

// Patience counts the steps of a program that could not be taken. Rapid draws
// another step in place of one that is skipped before it draws anything, and
// takes a hundred in a row for a mistake of the check. The input of a native
// fuzzer repeats itself and gets there easily.
type Patience struct{ skips int }

// Skip ends a step that cannot be taken. Now and then it draws something
// first, which makes the step count as taken in vain.
func (p *Patience) Skip(t *rapid.T, why string) {
	if p.skips++; p.skips%50 == 0 {
		rapid.Bool().Draw(t, "lost patience")
	}
	t.Skip(why)
}

// SkipMost skips all but one in eight of the steps after which not much
// happens in a program.
func (p *Patience) SkipMost(t *rapid.T) {
	if rapid.IntRange(0, 7).Draw(t, "unless 0") != 0 {
		p.Skip(t, "not now")
	}
}
