package chart

import "testing"

// Shares of a frame stand where they should, and a line begins anew after a gap.
func TestLinesAndAreas(t *testing.T) {
	f := Frame{Left: 10, Top: 20, Right: 110, Bottom: 70}
	points := []Point{{X: 0, Y: 1, Begins: true}, {X: 0.5, Y: 0}, {X: 1, Y: 0.5, Begins: true}}
	if got, want := f.Line(points), "M10.0 20.0h0L10.0 20.0L60.0 70.0M110.0 45.0h0L110.0 45.0"; got != want {
		t.Errorf("line %s, want %s", got, want)
	}
	if got, want := f.Area(points), "M10.0 70L10.0 20.0L60.0 70.0L60.0 70zM110.0 70L110.0 45.0L110.0 70z"; got != want {
		t.Errorf("area %s, want %s", got, want)
	}
	if f.Line(nil) != "" || f.Area(nil) != "" {
		t.Error("no points have a path")
	}
}
