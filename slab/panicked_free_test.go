package slab

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/poison"
)

// What the upstream of a pool would not take is held, and goes when the pool gives back,
// once. Over direct nothing else is ever held.
func TestAPoolOverDirectHoldsWhatItsUpstreamWouldNotTake(t *testing.T) {
	for what, giveBack := range map[string]func(*Pool){
		"FreeHeld": (*Pool).FreeHeld, "StopHolding": (*Pool).StopHolding, "Trim": func(p *Pool) { p.Trim(0) },
	} {
		up := breakAt(2, &pages{})
		p := mustOpen(t, up, Config{Strategy: "direct"})
		b := mustGet(t, p, 1000)
		if !doesPanic(func() { b.Release() }) {
			t.Fatal("no panic")
		}
		if s := p.Stats(); s.ActiveBlocks != 0 || s.HeldBlocks != 1 || s.HeldBytes != 1000 || s.ManagedBytes != 1000 {
			t.Errorf("%+v", s)
		}
		if err := b.Release(); err != ErrReleased || up.Frees != 0 {
			t.Errorf("%v, %d blocks went upstream", err, up.Frees)
		}
		if giveBack(p); up.Frees != 1 || p.Stats().ManagedBytes != 0 {
			t.Errorf("%s: %d blocks went upstream, %+v", what, up.Frees, p.Stats())
		}
	}
}

// Direct by itself does not hold a block that was freed by mistake: at its next FreeHeld
// the block may be somebody else's.
func TestDirectHoldsNothingThatWasNotOut(t *testing.T) {
	up := &source{}
	s := holderOn("direct", up, Config{})
	b := mustAlloc(t, s, 100)
	s.Free(b)
	if !doesPanic(func() { s.Free(b) }) {
		t.Fatal("no panic")
	}
	if s.FreeHeld(); s.Usage() != (Usage{}) || up.Frees != 1 {
		t.Errorf("%+v, %d blocks went upstream", s.Usage(), up.Frees)
	}
}

// A Free that panics may be tried again on a Check, as a strategy below could have the
// block out as before. If it holds the block, its memory is no longer the caller's.
func TestCheckPoisonsABlockOnce(t *testing.T) {
	up := breakAt(0, &pages{Source: source{Host: true}})
	c := checkOn(strategyOn("bestfit", up, Config{MaxHeld: -1}))
	b := mustAlloc(t, c, 1000)
	up.at = up.nth + 1
	if !doesPanic(func() { c.Free(b) }) {
		t.Fatal("no panic")
	}
	next := device.Bytes(mustAlloc(t, c, 500))
	device.Fill(next, 7)
	if up.at = 0; next == nil || !doesPanic(func() { c.Free(b) }) {
		t.Fatal("a second Free was taken")
	}
	if poison.Unlike(next, 7) >= 0 {
		t.Error("the second Free wrote to a block that has another owner")
	}
}
