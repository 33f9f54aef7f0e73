package guard

import (
	"slices"
	"time"

	"github.com/bufslab/bufslab/device"
)

// patience is how many collections a view may outlive its buffer. The first two may have begun
// before the Release, as they are told late; what is in a register outlives one more. Where
// goroutines wait long for a processor, and the heap is small, four run while one of them stands
// in its Release: Options.Linger is for that.
const patience = 4

// Found is told of a region that the collector has found without a view, and that has its
// memory back.
func (g *Guard) Found(r device.Region) {
	if k := g.takeFound(r); k != nil {
		g.giveBack(k)
	}
}

func (g *Guard) takeFound(r device.Region) *block {
	g.mu.Lock()
	defer g.mu.Unlock()
	k := g.collected[r]
	if k == nil {
		return nil
	}
	return g.remove(slices.Index(g.withheld, k))
}

// Tick counts a collection. It is called on the goroutine that hears of it: what runs later may
// be told of several at once, of which the last one began before a Release.
func (g *Guard) Tick() {
	if g != nil {
		g.collections.Add(1)
	}
}

// Look reports the views that have outlived some collections.
func (g *Guard) Look() {
	for _, k := range g.outlived() {
		f := k.fault(0)
		f.View = true
		g.o.Report(f)
	}
}

// outlived returns the blocks whose views have outlived as many collections and as much time as
// a program may need to let go, each once.
func (g *Guard) outlived() (list []*block) {
	now := g.collections.Load()
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, k := range g.withheld {
		if k.isWatched() && !k.told && now-k.since >= patience && time.Since(k.at) >= g.o.Linger &&
			k.view.Value() != nil {
			k.told = true
			list = append(list, k)
		}
	}
	return list
}
