package upstream

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

func TestRegionsLikeAModel(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	var regions []device.Region
	for range 5 {
		regions = append(regions, upstreamtest.NewRegion(1000))
	}
	m := NewRegions()
	model := map[device.Block]int32{}
	for step := range int32(5000) {
		// Spans of a region do not overlap: each begins at a hundred of its own.
		b := device.Block{Region: regions[r.IntN(5)], Off: 100 * r.IntN(10), Len: 100}
		if _, in := model[b]; in {
			m.Remove(b)
			delete(model, b)
		} else {
			m.Add(b, step)
			model[b] = step
		}
		in := device.Block{Region: regions[r.IntN(5)], Off: r.IntN(1000), Len: 1 + r.IntN(100)}
		want, ok := int32(0), false
		for span, id := range model {
			if span.Region == in.Region && span.Off <= in.Off && in.Off+in.Len <= span.Off+span.Len {
				want, ok = id, true
			}
		}
		if got, found := m.Find(in); found != ok || got != want {
			t.Fatalf("Find(%+v) = %d, %v, want %d, %v", in, got, found, want, ok)
		}
	}
	for b := range model {
		m.Remove(b)
	}
	if len(m.by) != 0 {
		t.Errorf("%d regions left", len(m.by))
	}
}

func TestRegionsDoNotFindWhatIsNoPartOfABlock(t *testing.T) {
	r := upstreamtest.NewRegion(1000)
	m := NewRegions()
	m.Add(device.Block{Region: r, Off: 100, Len: 100}, 7)
	for _, b := range []device.Block{
		{}, {Region: r, Off: 99, Len: 1}, {Region: r, Off: 150, Len: 51}, {Region: r, Off: 100, Len: math.MaxInt},
		{Region: r, Off: 200, Len: 1}, {Region: r, Off: -1, Len: 300}, {Region: upstreamtest.NewRegion(1000), Off: 100, Len: 1},
	} {
		if id, ok := m.Find(b); ok {
			t.Errorf("%+v was found in %d", b, id)
		}
	}
	for _, b := range []device.Block{{Region: r, Off: 199, Len: 1}, {Region: r, Off: 100, Len: 100}} {
		m.last = part{} // or it would be found there
		if id, ok := m.Find(b); !ok || id != 7 {
			t.Errorf("%+v: found %d, %v", b, id, ok)
		}
	}
}
