package trace

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
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

// A row d names the device of the pool: it is the Trace's, and of its halves, and no event. The first one counts. A
// Writer writes it as a Reader reads it, with each set of columns.
func TestDeviceOfARecording(t *testing.T) {
	for _, extra := range [][]string{nil, {"key"}, {"thread", "time_ns"}, {"key", "stream", "thread", "time_ns"}} {
		var b bytes.Buffer
		w := NewWriter(&b, extra...)
		rows := []Op{{Kind: On, Key: "sim:1MiB:pinned"}, {Kind: Alloc, ID: 1, Size: 5}, {Kind: On, Key: "a,\"b\""}}
		for _, op := range rows {
			check.Must(t, w.Write(op))
		}
		check.Must(t, w.Close())
		if got, err := ops(b.String()); err != nil || !slices.Equal(got, rows) {
			t.Errorf("%q: %+v, %v", b.String(), got, err)
		}
		tr := read(t, b.String())
		first, second := tr.Halves()
		if tr.Device != rows[0].Key || first.Device != tr.Device || second.Device != tr.Device || tr.Events() != 1 || len(slices.Collect(tr.Ops())) != 1 {
			t.Errorf("%+v", tr)
		}
	}
	if tr := read(t, "op,id,size\na,0,1\n"); tr.Device != "" {
		t.Errorf("device %q of a file that names none", tr.Device)
	}
}

// A row d without a name is malformed, and a Writer refuses it; so is a name that is longer than a field.
func TestDeviceWithoutAName(t *testing.T) {
	long := strings.Repeat("x", maxField+1)
	for _, name := range []string{"", long} {
		if _, err := ops("d," + name + ",\na,0,1\n"); !errors.Is(err, ErrMalformed) {
			t.Errorf("%.8q: %v", name, err)
		}
		if err := NewWriter(io.Discard).Write(Op{Kind: On, Key: name}); !errors.Is(err, ErrMalformed) {
			t.Errorf("%.8q: %v", name, err)
		}
	}
}
