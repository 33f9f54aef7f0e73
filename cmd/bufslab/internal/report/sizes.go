package report

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/bufslab/bufslab/internal/chart"
)

// A Size counts the allocations of at most Max bytes, a power of two, and more than half that.
type Size struct {
	Max           int64
	Allocs, Bytes int64
}

// Sizes counts allocations by power of two.
type Sizes struct{ counts [64]Size }

// Add counts an allocation.
func (s *Sizes) Add(size int) {
	c := &s.counts[bits.Len64(uint64(max(size, 1)-1))]
	c.Allocs++
	c.Bytes += int64(size)
}

// fewest is how many bars a histogram has at least: alone one would be as wide as the page.
const fewest = 6

// List returns the counts from the smallest to the largest size that there is, and some
// beside it where that is few.
func (s *Sizes) List() []Size {
	first, last := len(s.counts), 0
	for i, c := range s.counts {
		if c.Allocs > 0 {
			first, last = min(first, i), max(last, i)
		}
	}
	if first > last {
		return nil
	}
	for last-first < fewest-1 {
		last, first = min(last+1, len(s.counts)-1), max(first-1, 0)
	}
	for i := range s.counts {
		s.counts[i].Max = 1 << min(i, 62)
	}
	return s.counts[first : last+1]
}

// Histogram draws the share of each size in the allocations and in the bytes.
func (t *Trace) Histogram() (all []*drawing) {
	var allocs, bytes int64
	for _, s := range t.Sizes {
		allocs, bytes = allocs+s.Allocs, bytes+s.Bytes
	}
	values, most := [2][]float64{}, 0.0
	for _, s := range t.Sizes {
		a, b := share(s.Allocs, allocs), share(s.Bytes, bytes)
		values[0], values[1] = append(values[0], a), append(values[1], b)
		most = max(most, a, b)
	}
	up := shareAxis(most)
	for _, f := range formats {
		d := newDrawing(f, "sizes of allocations", up)
		d.draw("fill:%s", series(0), d.bars(values[0], up, 0.15))
		d.draw("fill:%s", series(1), d.bars(values[1], up, 0.52))
		d.sizeNames(t.Sizes)
		all = append(all, d)
	}
	return all
}

// leastBar is how many units of the image a bar has at least: one can see it.
const leastBar = 3.0

// bars is the path of the bars of a series. Each has a part of its pair's width, from one share of it on.
func (d *drawing) bars(shares []float64, up axis, from float64) string {
	const part = 0.33
	var path strings.Builder
	for i, share := range shares {
		if share == 0 {
			continue
		}
		left, top := d.frame.At(chart.Point{X: (float64(i) + from) / float64(len(shares)), Y: up.share(share)})
		wide, bottom := part*(d.frame.Right-d.frame.Left)/float64(len(shares)), d.frame.Bottom
		fmt.Fprintf(&path, "M%.1f %gV%.1fh%.1fV%gz", left, bottom, min(top, bottom-leastBar), wide, bottom)
	}
	return path.String()
}

// sizeNames writes sizes below their bars: each, or at equal distances those that there is room for.
func (d *drawing) sizeNames(sizes []Size) {
	const room = 60 // of a name
	step := max(1, int(math.Ceil(room*float64(len(sizes))/(d.frame.Right-d.frame.Left))))
	for i := 0; i < len(sizes); i += step {
		x, _ := d.frame.At(chart.Point{X: (float64(i) + 0.5) / float64(len(sizes))})
		if unit, name := byteUnit(sizes[i].Max); x+room/2 < float64(d.Width) {
			d.write(x, d.under(), "middle", inUnit(float64(sizes[i].Max), unit, name))
		}
	}
}

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
