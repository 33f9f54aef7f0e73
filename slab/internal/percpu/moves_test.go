package percpu

import (
	"regexp"
	"testing"
)

// A reading is what another goroutine sees of a move: a count, two numbers that change together while the count is
// odd, and the count again.
type reading [4]int8

// A writer's stores wait in a buffer, as in a world of protocol_test.go, and leave it in any order; a full step waits
// for all that are before it.
type write struct{ cell, value int8 }

// full is Load after Add, or what Add alone is where it has an instruction of its own.
var full = write{-1, 0}

// torn reports whether some order of the steps gives a reading that is taken though one number had changed and the
// other had not. Loads are in order: each is atomic.
func torn(memory [3]int8, waiting, left []write, r reading, loads int) bool {
	if loads == len(r) {
		return r[0]%2 == 0 && r[0] == r[3] && r[1] != r[2]
	}
	next := r
	next[loads] = memory[loads%3]
	if torn(memory, waiting, left, next, loads+1) {
		return true
	}
	if len(left) > 0 && left[0] == full {
		if len(waiting) == 0 && torn(memory, nil, left[1:], r, loads) {
			return true
		}
	} else if len(left) > 0 && torn(memory, append(waiting[:len(waiting):len(waiting)], left[0]), left[1:], r, loads) {
		return true
	}
	for i, s := range waiting {
		seen := memory
		seen[s.cell] = s.value
		if torn(seen, append(waiting[:i:i], waiting[i+1:]...), left, r, loads) {
			return true
		}
	}
	return false
}

// A reading that is taken is of one moment, as begin has a Load after its Add. The control: without the Load it may
// not be. The last Add of a move comes after all stores before it.
func TestReadingsAreOfOneMoment(t *testing.T) {
	source, err := sources.ReadFile("cpu.go")
	if err != nil || !regexp.MustCompile(`func begin\(n \*atomic.Uint32\) {\s+n.Add\(1\)\s+n.Load\(\)\s+}`).Match(source) {
		t.Errorf("begin has other steps than here: %v", err)
	}
	odd, even, move := write{0, 1}, write{0, 2}, []write{{1, 1}, {2, 1}}
	steps := append(append([]write{odd, full}, move...), full, even)
	if torn([3]int8{}, nil, steps, reading{}, 0) {
		t.Error("a reading is taken that is torn")
	}
	if !torn([3]int8{}, nil, append([]write{odd}, steps[2:]...), reading{}, 0) {
		t.Error("the control: without the Load nothing is torn")
	}
}
