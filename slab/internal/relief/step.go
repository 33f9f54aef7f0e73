package relief

import "runtime/debug"

// leastStep is the held memory that a step does not halve: all of it goes, and keepers release buffers, too.
const leastStep = 1 << 20

// step gives back half of the held memory, and returns the bytes. The member that was unused for the longest
// time gives back first. When little is held, step gives back all, and asks keepers of buffers.
func (g *group) step(why string) (sum int64) {
	list := g.looked()
	var held, garbage int64
	for _, m := range list {
		held += m.HeldBytes()
	}
	want, all := held/2, held <= leastStep
	for _, m := range list {
		n := min(m.HeldBytes(), want-sum)
		if all {
			n = m.HeldBytes()
		} else if n <= 0 {
			continue
		}
		got := m.GiveBack(n, all, why)
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
