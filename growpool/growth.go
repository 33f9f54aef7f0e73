package growpool

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bufslab/bufslab/slab"
)

// A Growth returns the new size of a buffer in bytes. The buffer has have bytes,
// 0 if it is new, and must hold want bytes. A result below want counts as want.
// A Growth is called from any goroutine, with the key locked: it must not call the Pool.
type Growth func(have, want int) int

// Exact gives the size that was asked for. Keys whose sizes creep up grow often.
func Exact(have, want int) int { return want }

// Pow2 gives the next power of two: fewest grows, up to twice the memory.
func Pow2(have, want int) int { return pow2(have, want) }

var pow2 = Steps(1)

// Factor gives f times the old size, or the size that was asked for if that is
// more: each growth multiplies the size by at least f. A new buffer is exact. It
// panics unless f is above 1.
func Factor(f float64) Growth {
	if !(f > 1) || math.IsInf(f, 0) {
		panic(fmt.Sprintf("growpool: Factor of %v, want more than 1", f))
	}
	return func(have, want int) int {
		if grown := f * float64(have); grown < math.MaxInt>>1 {
			return max(want, int(math.Ceil(grown)))
		}
		return want
	}
}

// Steps gives the next size of a grid with n sizes a doubling, the classes of
// [slab.Grid]. A buffer is larger than asked for by at most an n-th, and grows n
// times a doubling. For most programs Steps(8) and Steps(16) beat a mix of Exact and
// Pow2: steps towards a key's peak get rarer, and the last step wastes little.
// Steps(1) is Pow2. It panics unless n is a power of two up to 1024.
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
