package growpool

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bufslab/bufslab/slab"
)

// A Growth says how many bytes a buffer gets that has have bytes, 0 if it is
// new, and must hold want. Less than want counts as want. It is called from
// any goroutine.
type Growth func(have, want int) int

// Exact gives what is asked for. Keys whose sizes creep up grow often.
func Exact(have, want int) int { return want }

// Pow2 gives the next power of two: fewest grows, up to twice the memory.
func Pow2(have, want int) int { return pow2(have, want) }

var pow2 = Steps(1)

// Factor gives f times what the buffer had, or what is asked for if that is
// more: any sequence of requests grows a buffer only so often as its size is
// multiplied by f. A new buffer is exact. It panics unless f is above 1.
func Factor(f float64) Growth {
	if !(f > 1) || math.IsInf(f, 0) {
		panic(fmt.Sprintf("growpool: Factor of %v, want more than 1", f))
	}
	return func(have, want int) int {
		if grown := f * float64(have); grown < math.MaxInt>>1 {
			return max(want, int(grown))
		}
		return want
	}
}

// Steps gives the next size of a grid with n sizes a doubling, the classes of
// [slab.Grid]: no more than the n-th part beyond what is asked for, and n grows a
// doubling. With 8 or 16 it lies below what mixing Exact and Pow2 would
// give, for most programs: what a key needs at most is approached in steps
// that get rarer, and the last one wastes little. Steps(1) is Pow2. It panics
// unless n is a power of two up to 1024.
func Steps(n int) Growth {
	grid := slab.Grid(n, 1)
	return func(_, want int) int {
		if class := grid.Index(want); class >= 0 {
			return grid.Size(class)
		}
		return want
	}
}

// ParseGrowth reads a policy from text: exact, pow2, factor=F or steps=N.
func ParseGrowth(text string) (Growth, error) {
	name, value, _ := strings.Cut(text, "=")
	switch name {
	case "exact":
		if value == "" {
			return Exact, nil
		}
	case "pow2":
		if value == "" {
			return Pow2, nil
		}
	case "factor":
		if f, err := strconv.ParseFloat(value, 64); err == nil && f > 1 && !math.IsInf(f, 0) {
			return Factor(f), nil
		}
	case "steps":
		if n, err := strconv.Atoi(value); err == nil && n > 0 && n <= 1<<10 && n&(n-1) == 0 {
			return Steps(n), nil
		}
	}
	return nil, fmt.Errorf("growpool: growth %q: want exact, pow2, factor=F above 1 or steps=N, a power of two up to 1024", text)
}
