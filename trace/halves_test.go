package trace

import (
	"slices"
	"strings"
	"testing"
)

// The halves have all events, and what is live in the middle twice: where it was made, and
// at the beginning of the second half.
func TestHalves(t *testing.T) {
	whole, err := Read(strings.NewReader("a,0,10\na,1,20\nf,0,\na,2,30\na,3,40\nf,1,\nf,3,\nf,2,\n"), "x.csv")
	if err != nil {
		t.Fatal(err)
	}
	first, second := whole.Halves()
	for _, c := range []struct {
		half *Trace
		want []Op
		peak int64
	}{
		{first, []Op{{Kind: Alloc, ID: 0, Size: 10}, {Kind: Alloc, ID: 1, Size: 20}, {Kind: Free, ID: 0, Size: 10}, {Kind: Alloc, ID: 0, Size: 30}}, 50},
		{second, []Op{{Kind: Alloc, ID: 0, Size: 30}, {Kind: Alloc, ID: 1, Size: 20}, {Kind: Alloc, ID: 2, Size: 40},
			{Kind: Free, ID: 1, Size: 20}, {Kind: Free, ID: 2, Size: 40}, {Kind: Free, ID: 0, Size: 30}}, 90},
	} {
		if got := slices.Collect(c.half.Ops()); !slices.Equal(got, c.want) {
			t.Errorf("%v, want %v", got, c.want)
		}
		if c.half.PeakLiveBytes != c.peak || c.half.Name != "x.csv" || c.half.Events() != len(c.want) {
			t.Errorf("%d bytes at the peak, want %d; %d events", c.half.PeakLiveBytes, c.peak, c.half.Events())
		}
	}
	if second.LiveBytes != 0 || first.LiveBytes != 50 {
		t.Errorf("%d and %d bytes live at the end", first.LiveBytes, second.LiveBytes)
	}
}

// Threads, streams and times stay, and halves of more than a chunk can be replayed.
func TestHalvesOfALongTrace(t *testing.T) {
	var text strings.Builder
	text.WriteString("op,id,size,stream,thread,time_ns\n")
	const n = chunkSteps + 1000
	for i := range n {
		id := string(rune('0' + i%10))
		if i >= 10 {
			text.WriteString("f," + id + ",,7,1,5\n")
		}
		text.WriteString("a," + id + ",100,7,2,6\n")
	}
	whole, err := Read(strings.NewReader(text.String()), "long.csv")
	if err != nil {
		t.Fatal(err)
	}
	first, second := whole.Halves()
	if got, want := first.Events()+second.Events(), whole.Events()+10; got > want || got < want-1 {
		t.Errorf("%d events, want %d", got, want)
	}
	for op := range second.Ops() {
		if op.Stream != 7 || op.Thread != 1+uint64(op.TimeNS-5) {
			t.Fatalf("%+v", op)
		}
	}
	r, err := Replay(second, open(t, "device=virtual,cache_bytes=0"))
	if err != nil || r.UncachedAllocs != r.Allocs || r.PeakLiveBytes != 1000 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A keyed trace has no halves.
func TestHalvesOfAKeyedTrace(t *testing.T) {
	whole, err := Read(strings.NewReader("g,a,10\ng,b,20\n"), "keyed.csv")
	if err != nil {
		t.Fatal(err)
	}
	if a, b := whole.Halves(); a != nil || b != nil {
		t.Errorf("%v and %v", a, b)
	}
}
