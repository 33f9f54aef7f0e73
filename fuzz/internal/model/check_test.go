package model

import (
	"testing"

	"pgregory.net/rapid"
)

// enough programs of rapid for these tests, also where -short leaves a fifth of them, or RAPID_CHECKS says less.
const enough = "1000"

func always() bool { return true }

func TestBoundEndsChecks(t *testing.T) {
	Set(t, "rapid.checks", enough)
	ran := 0
	b := bound{over: always, property: func(*rapid.T) { ran++ }}
	rapid.Check(t, b.run)
	if ran != leastPrograms || b.ran != ran || b.skipped == 0 {
		t.Errorf("%d programs ran, %d by the count, %d did not", ran, b.ran, b.skipped)
	}
}

// A failure that was cut off could not be reproduced.
func TestBoundLeavesFailuresTheirTime(t *testing.T) {
	ran := 0
	b := bound{over: always, property: func(*rapid.T) { ran++; panic("a failure") }}
	for range 2 * leastPrograms {
		if !Panics(func() { b.run(nil) }) {
			t.Fatalf("the program ran %d times, then no more", ran)
		}
	}
}

// A step counts when its action has come to its end.
func TestStepsAreCounted(t *testing.T) {
	Set(t, "rapid.checks", enough)
	ran, checked := int64(0), 0
	steps, programs := CheckSteps(t, 200, func(t *rapid.T) {
		Repeat(t, map[string]func(*rapid.T){
			"":       func(*rapid.T) { checked++ },
			"act":    func(*rapid.T) { ran++ },
			"skip":   func(t *rapid.T) { t.Skip("not now") },
			"reject": func(t *rapid.T) { rapid.Bool().Draw(t, "in vain"); t.Skip("not now") },
		})
	})
	if steps != ran || steps < 200 || int64(checked) != ran+int64(programs) {
		t.Errorf("%d steps by the count, %d actions in %d programs with %d checks", steps, ran, programs, checked)
	}
}
