package slabtest

import (
	"testing"

	"github.com/bufslab/bufslab/internal/gcwatch"
	"github.com/bufslab/bufslab/slab"
)

// NoLeaks fails t, by t.Errorf, if buffers of p are out or were forgotten since p was opened. The
// message has a line for each place of a Get, with the number of buffers and their bytes. That needs a
// pool that keeps call sites, as those of [Open] and those with on_forget=report do; of another one it
// has what [slab.Pool.Leaks] estimates, or the numbers alone.
//
// If something is out, NoLeaks gives back what the pool holds, as FreeHeld does, and runs the garbage
// collector until it finds nothing more: a buffer that the test has dropped is told as forgotten, one
// that it still reaches as out. If nothing is out there is nothing to look for, and no collection runs.
//
// Call it while no other goroutine uses p: a buffer that is in use is a buffer that is out. It closes
// nothing, so a test may call it between its steps. A buffer that was forgotten is told each time.
func NoLeaks(t testing.TB, p *slab.Pool) {
	t.Helper()
	if text := leaksOf(p, "when NoLeaks looked"); text != "" {
		t.Errorf("%s", text)
	}
}

// leaksOf says what is out of p and what was forgotten, or "".
func leaksOf(p *slab.Pool, when string) string {
	if p.Stats().ActiveBlocks > 0 {
		collect(p)
	}
	s := p.Stats()
	if s.ActiveBlocks == 0 && s.Forgotten == 0 {
		return ""
	}
	list := p.Leaks()
	if !tellsEach(list) {
		return withoutPlaces(s, list, when, p.Name())
	}
	return withPlaces(list, when, p.Name())
}

// mostCollections bounds how often collect runs the collector. The finalizer of a
// part lets go of the buffer, which the next collection finds: so one is not enough.
const mostCollections = 5

// collect has the collector find what was forgotten. A block in a cache keeps others of its slab from
// being found, so nothing is held meanwhile.
func collect(p *slab.Pool) {
	forgotten := func() int64 { return p.Stats().Forgotten }
	for range mostCollections {
		before := forgotten()
		p.FreeHeld()
		gcwatch.Collect(forgotten)
		if forgotten() == before {
			return
		}
	}
}
