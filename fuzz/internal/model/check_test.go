package model

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestBoundEndsChecks(t *testing.T) {
	ran := 0
	b := bound{end: time.Now().Add(-time.Second), property: func(*rapid.T) { ran++ }}
	rapid.Check(t, b.run)
	if ran != leastPrograms || b.ran != ran || b.skipped == 0 {
		t.Errorf("%d programs ran, %d by the count, %d did not", ran, b.ran, b.skipped)
	}
}

// A failure that was cut off could not be reproduced.
func TestBoundLeavesFailuresTheirTime(t *testing.T) {
	ran := 0
	b := bound{end: time.Now().Add(-time.Second), property: func(*rapid.T) { ran++; panic("a failure") }}
	for range 2 * leastPrograms {
		if !Panics(func() { b.run(nil) }) {
			t.Fatalf("the program ran %d times, then no more", ran)
		}
	}
}
