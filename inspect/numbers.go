package inspect

import (
	"fmt"
	"math"
	"math/bits"
	"path"
	"strconv"
	"time"

	"github.com/bufslab/bufslab/slab"
)

// A number is one that the page shows large.
type number struct{ Name, Value, Note string }

func numbersOf(s slab.Stats) []number {
	waited := "none had to wait"
	if s.Waits > 0 {
		ended := time.Duration(max(1, s.Waits-s.Waiters))
		waited = fmt.Sprintf("%s in all, %v each", count(s.Waits), (s.WaitTime / ended).Round(time.Microsecond))
	}
	return []number{
		{"Active", size(s.ActiveBytes), several(s.ActiveBlocks, "buffer") + " out, at most " + size(s.PeakActiveBytes)},
		{"Held", size(s.HeldBytes), several(s.HeldBlocks, "block")},
		{"Managed", size(s.ManagedBytes), "at most " + size(s.PeakManagedBytes)},
		{"Footprint", footprint(s), "managed by active, at most"},
		{"Hit rate", hitRate(s), "of " + count(s.Hits+s.Misses) + " Gets"},
		{"Waiters", count(s.Waiters), waited},
		{"Failed", count(s.Failed), "Gets out of memory"},
		{"Overflow", size(s.OverflowBytes), several(s.OverflowBlocks, "buffer") + " made where there was no room"},
	}
}

// footprint is what a replay promises: the peak of managed bytes by that of active bytes.
func footprint(s slab.Stats) string {
	if s.PeakActiveBytes == 0 {
		return "-"
	}
	return strconv.FormatFloat(float64(s.PeakManagedBytes)/float64(s.PeakActiveBytes), 'f', 2, 64)
}

// warningsOf are sentences about what should not be.
func warningsOf(s slab.Stats) (list []string) {
	for _, w := range []struct {
		n    int64
		text string
	}{
		{s.Forgotten, "Buffers that were never released, found by the collector"},
		{s.DoubleReleases, "Releases of what had been released before"},
		{s.ForeignPuts, "Puts of slices that the pool did not have out"},
		{s.GuardFaults, "Guarded buffers that were used after their Release, or are still reached"},
	} {
		if w.n > 0 {
			list = append(list, w.text+": "+count(w.n))
		}
	}
	if s.PressureSteps > 0 {
		list = append(list, "Memory was short: "+several(s.PressureSteps, "step")+" gave back "+size(s.PressureBytes))
	}
	return list
}

// A part is one of those that managed bytes add up from, as a piece of a bar.
type part struct {
	Class, Size string  // Class is its name, and that of its class in page.css
	At, Wide    float64 // in percent of the bar
}

// partsOf fills a bar that is as long as the peak.
func partsOf(s slab.Stats) []part {
	list, at := []part{}, 0.0
	whole := float64(max(s.PeakManagedBytes, s.ManagedBytes, 1))
	for _, p := range []struct {
		class string
		n     int64
	}{{"active", s.ActiveBytes}, {"rounding", s.RoundingBytes}, {"held", s.HeldBytes}, {"unusable", s.UnusableBytes}} {
		wide := min(100-at, 100*float64(max(0, p.n))/whole)
		list = append(list, part{p.class, size(p.n), at, wide})
		at += wide
	}
	return list
}

// extents are free ones of about a size.
type extents struct {
	Least string
	N     int64
	Wide  float64 // in percent of the most
}

// freeOf leaves out sizes of which there are none.
func freeOf(f slab.Fragmentation) (list []extents) {
	most := int64(1)
	for _, n := range f.FreeExtents {
		most = max(most, n)
	}
	for i, n := range f.FreeExtents {
		if n > 0 {
			list = append(list, extents{size(1 << i), n, 100 * float64(n) / float64(most)})
		}
	}
	return list
}

// size writes bytes with three digits or four: 1.50 MiB, 15.0 MiB, 1023 B.
func size(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(max(n, 0), 10) + " B"
	}
	unit := (bits.Len64(uint64(n)) - 1) / 10
	v := float64(n) / math.Pow(1024, float64(unit))
	digits := 2
	for limit := 10.0; limit <= 100 && v >= limit; limit *= 10 {
		digits--
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + " " + "KMGTPE"[unit-1:unit] + "iB"
}

// count writes a number with commas.
func count(n int64) string {
	s := strconv.FormatInt(max(n, 0), 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// several writes a number of things.
func several(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return count(n) + " " + thing
}

// hitRate does not say 100 % of what is less.
func hitRate(s slab.Stats) string {
	gets := s.Hits + s.Misses
	if gets == 0 {
		return "–"
	}
	return strconv.FormatFloat(math.Floor(1000*float64(max(0, s.Hits))/float64(gets))/10, 'f', 1, 64) + " %"
}

// short is the end of a place: the file and its directory.
func short(place string) string {
	dir, file := path.Split(place)
	return path.Join(path.Base(dir), file)
}
