package relief

import (
	"math"
	"runtime/debug"
)

const (
	// leastStep is the held memory that a step does not halve: all of it goes, and keepers release buffers, too.
	leastStep = 1 << 20
	// leastGain is what a step has to give back to be worth another one.
	leastGain = leastStep / 16
)

// step gives back half of the held memory, and returns the bytes. When little is held, or members cannot give
// back what they hold, step gives back all, and asks keepers of buffers.
func (g *group) step(why string) (sum int64) {
	if held := g.held(); held > leastStep {
		if sum = g.ask(held/2, false, why); sum > leastGain {
			return sum
		}
	}
	return sum + g.ask(math.MaxInt64, true, why)
}

// ask has members give back memory until want bytes have come. The member that was unused for the longest time
// is asked first.
func (g *group) ask(want int64, keepers bool, why string) (sum int64) {
	var garbage int64
	for _, m := range g.looked() {
		n := min(m.HeldBytes(), want-sum)
		if n <= 0 && !keepers {
			continue
		}
		got := m.GiveBack(n, keepers, why)
		sum += got
		if m.OnGoHeap() {
			garbage += got
		}
	}
	if garbage > leastStep {
		debug.FreeOSMemory() // else the process keeps the garbage until the next collection
	}
	return sum
}
