package relief

import "runtime/debug"

// leastStep is what is not halved any more: all goes, and what others keep of the pools' buffers.
const leastStep = 1 << 20

// step gives back half of what is held, by those first that were not in use for longest, and returns the
// bytes. When little is held, it gives back all, and asks those who keep buffers.
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
		debug.FreeOSMemory() // else it stays the process's until the collector comes by
	}
	return sum
}
