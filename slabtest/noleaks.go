package slabtest

import (
	"testing"

	"github.com/bufslab/bufslab/internal/gcwatch"
	"github.com/bufslab/bufslab/slab"
)

// NoLeaks fails t, by t.Errorf, if buffers of p are active or were forgotten since p was opened, also buffers of
// plain memory, as overflow=make hands them out. The
// message has a line for each place of a Get, with the number of buffers and their bytes. That needs a
// pool that keeps call sites, as pools of [Open] and pools with on_forget=report do. For other pools the
// message has the estimates of [slab.Pool.Leaks], or only the numbers.
//
// If a buffer is active, NoLeaks gives held memory back, as FreeHeld does, and runs the garbage
// collector until it finds no more: a buffer that the test has dropped is reported as forgotten, a
// buffer that the test still reaches as out. If no buffer is active, no collection runs.
//
// Call NoLeaks while no other goroutine uses p: each buffer in use is reported. NoLeaks closes
// nothing, so a test may call it between its steps. A forgotten buffer is reported each time.
func NoLeaks(t testing.TB, p *slab.Pool) {
	t.Helper()
	if text := leaksOf(p, "when NoLeaks looked"); text != "" {
		t.Errorf("%s", text)
	}
}

// leaksOf reports the active and the forgotten buffers of p, or "".
func leaksOf(p *slab.Pool, when string) string {
	if n, _ := outOf(p.Stats()); n > 0 {
		collect(p)
	}
	s := p.Stats()
	if n, _ := outOf(s); n == 0 && s.Forgotten == 0 {
		return ""
	}
	list := p.Leaks()
	if !tellsEach(list) {
		return withoutPlaces(s, list, when, p.Name())
	}
	return withPlaces(s, list, when, p.Name())
}

// mostCollections bounds how often collect runs the collector. The finalizer of a
// part lets go of the buffer, and the next collection finds it: so one is not enough.
const mostCollections = 5

// collect has the collector find forgotten buffers. A block in a cache keeps others of its slab from
// being found, so collect gives held memory back first.
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
