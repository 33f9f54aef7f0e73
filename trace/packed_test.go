package trace

import (
	"bytes"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// Whatever the numbers are, each comes back, in as few bytes as its distance from the first
// needs, also when the column was cut.
func TestPackedNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		number func(i int) int64
		width  int
	}{
		"none":          {func(int) int64 { return 0 }, 0},
		"one":           {func(int) int64 { return -7 }, 0},
		"threads":       {func(i int) int64 { return int64(100+i) % 101 }, 1},
		"128 of them":   {func(i int) int64 { return int64(i % 128) }, 1},
		"one more":      {func(i int) int64 { return int64(i % 129) }, 2},
		"many threads":  {func(i int) int64 { return int64(i) * 13 }, 2},
		"times":         {func(i int) int64 { return 1<<40 + int64(i)*1000 }, 4},
		"late times":    {func(i int) int64 { return int64(i/500) * 1e9 }, 4},
		"a day":         {func(i int) int64 { return int64(i) * 86_400e6 }, 8},
		"backwards":     {func(i int) int64 { return int64(-i) }, 2},
		"from the ends": {func(i int) int64 { return []int64{math.MinInt64, math.MaxInt64}[i%2] }, 1}, // they are neighbours
		"any":           {func(int) int64 { return int64(r.Uint64() >> r.IntN(64)) }, 8},
	} {
		for _, room := range []int{0, 10, 1000} {
			var p packed
			var want []int64
			for i := range 1000 {
				want = append(want, c.number(i))
				p.add(want[i], room)
			}
			if p.width != c.width || len(p.bytes) != 1000*c.width || p.isZero() != (name == "none") {
				t.Errorf("%s: %d bytes, %d a row, zero %v", name, len(p.bytes), p.width, p.isZero())
			}
			for _, n := range []int{0, 1, 499, 1000} {
				head, tail := p.cut(n)
				for i, want := range want {
					part, at := &head, i
					if i >= n {
						part, at = &tail, i-n
					}
					if got := part.at(at); got != want {
						t.Fatalf("%s, cut at %d: row %d is %d, want %d", name, n, i, got, want)
					}
				}
			}
		}
	}
}

// A column that was made with room for its rows does not move.
func TestPackedNumbersStayWhereTheyAre(t *testing.T) {
	var p packed
	for i := range 1100 {
		p.add(int64(i), 1100)
	}
	if cap(p.bytes) < 2200 || cap(p.bytes) > 2500 { // what the allocator rounds up is in
		t.Errorf("%d bytes for 1,100 rows of two", cap(p.bytes))
	}
}

// A recording with times, threads and streams takes 14 bytes an event.
func TestARecordingTakesFewBytes(t *testing.T) {
	const events = 10 * chunkSteps
	var file bytes.Buffer
	w := NewWriter(&file)
	for i := range events {
		op := Op{ID: uint64(i / 2), Size: 100, Thread: uint64(100 + i%4), Stream: uint64(i % 3), TimeNS: int64(i) * 1000}
		if op.Kind = Alloc; i%2 == 1 {
			op.Kind = Free
		}
		if err := w.Write(op); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	tr, err := Read(&file, "few")
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if took := int64(after.HeapAlloc) - int64(before.HeapAlloc); took > 15*events {
		t.Errorf("%.1f bytes an event", float64(took)/events)
	}
	runtime.KeepAlive(tr)
	runtime.KeepAlive(file)
}
