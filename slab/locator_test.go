package slab

import (
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
)

func TestLocatorLikeAModel(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	var regions []device.Region
	for i := range 5 {
		regions = append(regions, &fakeRegion{size: 1000, id: i})
	}
	l := newLocator()
	model := map[device.Block]int32{}
	for step := range int32(5000) {
		// Spans of a region do not overlap: each begins at a hundred of its own.
		b := device.Block{Region: regions[r.IntN(5)], Off: 100 * r.IntN(10), Len: 100}
		if _, in := model[b]; in {
			l.remove(b)
			delete(model, b)
		} else {
			l.add(b, step)
			model[b] = step
		}
		in := device.Block{Region: regions[r.IntN(5)], Off: r.IntN(1000), Len: 1 + r.IntN(100)}
		want, ok := int32(0), false
		for span, id := range model {
			if span.Region == in.Region && span.Off <= in.Off && in.Off+in.Len <= span.Off+span.Len {
				want, ok = id, true
			}
		}
		if got, found := l.find(in); found != ok || got != want {
			t.Fatalf("find(%+v) = %d, %v, want %d, %v", in, got, found, want, ok)
		}
	}
	for b := range model {
		l.remove(b)
	}
	if len(l.by) != 0 {
		t.Errorf("%d regions left", len(l.by))
	}
}

func TestLocatorDoesNotFindWhatIsNoPartOfABlock(t *testing.T) {
	r := &fakeRegion{size: 1000}
	l := newLocator()
	l.add(device.Block{Region: r, Off: 100, Len: 100}, 7)
	for _, b := range []device.Block{
		{}, {Region: r, Off: 99, Len: 1}, {Region: r, Off: 150, Len: 51}, {Region: r, Off: 100, Len: maxInt},
		{Region: r, Off: 200, Len: 1}, {Region: r, Off: -1, Len: 300}, {Region: &fakeRegion{size: 1000}, Off: 100, Len: 1},
	} {
		if id, ok := l.find(b); ok {
			t.Errorf("%+v was found in %d", b, id)
		}
	}
	if id, ok := l.find(device.Block{Region: r, Off: 199, Len: 1}); !ok || id != 7 {
		t.Errorf("found %d, %v", id, ok)
	}
}

func TestOnlyDevicesAndWhatPassesThemOnHaveRegionsOfTheirOwn(t *testing.T) {
	d := fakeDevice{fake: &fake{}}
	for _, c := range []struct {
		a    Allocator
		want bool
	}{
		{d, true}, {NewLimit(d, 1), true}, {NewScopes(NewLimit(d, 1)), true}, {&ledger{upstream: d}, true},
		{&fake{}, false}, {NewLimit(&fake{}, 1), false}, {NewExact(d, Config{}), false}, {NewCheck(d), false},
	} {
		if ownRegions(c.a) != c.want {
			t.Errorf("%T: %v", c.a, !c.want)
		}
	}
	b := device.Block{Region: &fakeRegion{size: 4096}, Len: 100}
	if footprint(b, true) != 4096 || footprint(b, false) != 100 || footprint(device.Block{}, true) != 0 {
		t.Error("a wrong footprint")
	}
}
