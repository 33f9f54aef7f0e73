package slab

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// The text of a LeakError adds leaks up by site: the ten with the most bytes, and how many
// more there are.
func TestLeakErrorAddsUpBySite(t *testing.T) {
	e := &LeakError{Pool: "api", Blocks: 4, Bytes: 1000, Leaks: []Leak{
		{Bytes: 300, Site: "b.go:1"}, {Bytes: 100, Site: "a.go:2"}, {Bytes: 350, Site: "a.go:2", Forgotten: true}, {Bytes: 250, Site: "c.go:3"}}}
	const want = `slab: pool api closed with 4 buffers of 1000 bytes out
	450 bytes in 2 buffers got at a.go:2, 1 of them found forgotten
	300 bytes in 1 buffers got at b.go:1
	250 bytes in 1 buffers got at c.go:3`
	if e.Error() != want {
		t.Error(e)
	}
	for i := range 12 {
		e.Leaks = append(e.Leaks, Leak{Bytes: 1000 + i, Site: fmt.Sprintf("d.go:%d", i)})
	}
	lines := strings.Split(e.Error(), "\n")
	if len(lines) != 12 || lines[1] != "\t1011 bytes in 1 buffers got at d.go:11" || lines[10] != "\t1002 bytes in 1 buffers got at d.go:2" || lines[11] != "\tand 5 more sites" {
		t.Error(e)
	}
}

// A million leaks are no reason to wait: adding texts up took time by their square. What is
// allocated tells of that on a busy machine, too; it grows with the sites only.
func TestLeakErrorOfAMillionLeaks(t *testing.T) {
	e := &LeakError{Leaks: make([]Leak, 1_000_000)}
	for i := range e.Leaks {
		e.Leaks[i] = Leak{Bytes: i, Site: sites[i%len(sites)]}
	}
	var text string
	if n := testing.AllocsPerRun(1, func() { text = e.Error() }); n > 10_000 || len(text) > 2000 {
		t.Errorf("%v allocations for a text of %d bytes", n, len(text))
	}
}

var sites = func() (s [50]string) {
	for i := range s {
		s[i] = fmt.Sprintf("/home/somebody/src/example.com/program/internal/file.go:%d", i)
	}
	return s
}()

// A LeakError has many bytes in units, too.
func TestALeakErrorHasUnits(t *testing.T) {
	for bytes, want := range map[int64]string{
		1<<20 - 1: "of 1048575 bytes out", 123_456_789: "of 123456789 bytes (117.7 MiB) out", 3 << 40: "of 3298534883328 bytes (3.0 TiB) out",
		math.MaxInt64: "of 9223372036854775807 bytes (8.0 EiB) out",
	} {
		if text := (&LeakError{Pool: "p", Blocks: 1, Bytes: bytes}).Error(); !strings.Contains(text, want) {
			t.Errorf("%s, want %s", text, want)
		}
	}
}
