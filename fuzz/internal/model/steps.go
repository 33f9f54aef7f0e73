package model

import (
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// taken counts the steps of all programs.
var taken atomic.Int64

// Repeat is [rapid.T.Repeat] with a count of the actions that come to their end. What is
// skipped is no step, nor is the check after each action, which there must be.
func Repeat(t *rapid.T, actions map[string]func(*rapid.T)) {
	counted := make(map[string]func(*rapid.T), len(actions))
	for name, act := range actions {
		counted[name] = func(t *rapid.T) {
			act(t)
			taken.Add(1)
		}
	}
	counted[""] = actions[""]
	t.Repeat(counted)
}

// CheckSteps is [rapid.Check] until programs have taken most steps, or as many programs have
// run as rapid runs. It returns how many there were of both. No other check may run
// meanwhile, as its steps would count.
func CheckSteps(t *testing.T, most int64, property func(*rapid.T)) (steps int64, programs int) {
	t.Helper()
	before := taken.Load()
	b := bound{over: func() bool { return taken.Load()-before >= most }, property: property}
	rapid.Check(t, b.run)
	return taken.Load() - before, b.ran
}
