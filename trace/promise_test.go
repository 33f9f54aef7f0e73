package trace

import (
	"bytes"
	"slices"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// What rows p say is the Trace's, wherever they are in the file, and of its halves; they are no events. A Writer writes
// them as a Reader reads them.
func TestPromises(t *testing.T) {
	one, two := Promise{Align: 256, Pinned: true}, Promise{Align: 64, Zeroed: true, BySlice: true}
	var b bytes.Buffer
	w := NewWriter(&b, "thread")
	rows := []Op{one.Op(), {Kind: Alloc, ID: 1, Size: 5}, {Kind: Free, ID: 1, Size: 5}, two.Op()}
	for _, op := range rows {
		check.Must(t, w.Write(op))
	}
	check.Must(t, w.Close())
	got, err := ops(b.String())
	if err != nil || !slices.Equal(got, rows) || got[0].Promise() != one || got[3].Promise() != two || got[1].Promise() != (Promise{}) {
		t.Errorf("%+v, %v", got, err)
	}
	tr := read(t, b.String())
	want := Promise{Align: 256, Zeroed: true, Pinned: true, BySlice: true}
	first, second := tr.Halves()
	if tr.Promise != want || first.Promise != want || second.Promise != want || tr.Events() != 2 || len(slices.Collect(tr.Ops())) != 2 {
		t.Errorf("%+v", tr)
	}
	if tr := read(t, "p,64,1\na,0,1\n"); tr.Promise != (Promise{Align: 64, Zeroed: true}) || tr.Allocs != 1 {
		t.Errorf("%+v", tr)
	}
}
