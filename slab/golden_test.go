package slab

import (
	"errors"
	"strconv"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// A goldenRow is a step of a script that pyopencl's own pool has run, and what
// every counter was after it.
type goldenRow struct {
	op, result                    string
	arg, block                    int
	upstreamBytes, upstreamAllocs int64
	upstreamFrees, held, active   int64
	managed, activeBytes          int64
}

func goldenRows(t *testing.T, name string) []goldenRow {
	var rows []goldenRow
	for _, r := range check.SharedRows(t, "golden/"+name) {
		n := make([]int64, len(r))
		for i := range r {
			n[i], _ = strconv.ParseInt(r[i], 10, 64)
		}
		rows = append(rows, goldenRow{r[1], r[3], int(n[2]), int(n[4]), n[5], n[6], n[7], n[8], n[9], n[10], n[11]})
	}
	return rows
}

// ownRows is a script that needs no recording, worked out by hand: bins of two
// bits, a budget of 4,096 bytes.
var ownRows = []goldenRow{
	//   op             result arg  block up    allocs frees held active managed asked
	{"alloc", "ok", 1000, 1, 1023, 1, 0, 0, 1, 1023, 1000}, // 896..1023 is a bin
	{"alloc", "ok", 900, 2, 2046, 2, 0, 0, 2, 2046, 1900},
	{"free", "ok", 0, 1, 2046, 2, 0, 1, 1, 2046, 900},
	{"alloc", "ok", 1023, 3, 2046, 2, 0, 0, 2, 2046, 1923}, // the block of 1000
	{"alloc", "ok", 1024, 4, 3325, 3, 0, 0, 3, 3325, 2947}, // 1024..1279
	{"free", "ok", 3, 3, 3325, 3, 0, 1, 2, 3325, 1923},
	{"free", "ok", 1, 2, 3325, 3, 0, 2, 1, 3325, 1023},
	{"alloc", "ok", 1500, 3, 3581, 4, 1, 1, 2, 3581, 2523}, // 1280..1535 evicts the largest bin
	{"alloc", "oom", 3000, 0, 2558, 4, 2, 0, 2, 2558, 2523},
	{"free", "ok", 2, 1, 2558, 4, 2, 1, 1, 2558, 1500},
	{"free_held", "ok", 0, 0, 1535, 4, 3, 0, 1, 1535, 1500},
	{"free", "ok", 4, 0, 1535, 4, 3, 1, 0, 1535, 0},
	{"stop_holding", "ok", 0, 0, 0, 4, 4, 0, 0, 0, 0},
	{"alloc", "ok", 7, 1, 7, 5, 4, 0, 1, 7, 7},
	{"free", "ok", 5, 0, 0, 5, 5, 0, 0, 0, 0},
}

// rowsOfPowers is one with bits=0: a bin is a power of two up to the next, less one.
var rowsOfPowers = []goldenRow{
	{"alloc", "ok", 600, 1, 1023, 1, 0, 0, 1, 1023, 600}, // 512..1023
	{"free", "ok", 0, 0, 1023, 1, 0, 1, 0, 1023, 0},
	{"alloc", "ok", 1023, 1, 1023, 1, 0, 0, 1, 1023, 1023}, // the block of 600
	{"alloc", "ok", 1024, 2, 3070, 2, 0, 0, 2, 3070, 2047}, // 1024..2047
	{"alloc", "ok", 1, 3, 3071, 3, 0, 0, 3, 3071, 2048},
	{"free", "ok", 2, 2, 3071, 3, 0, 1, 2, 3071, 1024},
	{"alloc", "ok", 2048, 3, 7166, 4, 0, 1, 3, 7166, 3072}, // 2048..4095
	{"alloc", "ok", 1100, 4, 7166, 4, 0, 0, 4, 7166, 4172}, // the block of 1024
}

// The bitlog strategy behind a pool with its caches off is pyopencl's pool,
// counter for counter.
func TestGoldenScripts(t *testing.T) {
	t.Run("own", func(t *testing.T) { runGolden(t, ownRows, Config{Bits: 2, MaxBytes: 4096}) })
	t.Run("bits0", func(t *testing.T) { runGolden(t, rowsOfPowers, Config{Bits: -1}) })
	t.Run("bits4", func(t *testing.T) {
		runGolden(t, goldenRows(t, "pool-bits4-nocap.csv.gz"), Config{Bits: 4})
	})
	t.Run("bits2,cap", func(t *testing.T) { // of 4,000,000 bytes, as its refusals show
		runGolden(t, goldenRows(t, "pool-bits2-cap4M.csv.gz"), Config{Bits: 2, MaxBytes: 4_000_000})
	})
}

func runGolden(t *testing.T, rows []goldenRow, c Config) {
	c.Strategy = "bitlog"
	p := openPool(t, "virtual", c)
	var live []PooledBuffer
	for i, r := range rows {
		result := "ok"
		switch r.op {
		case "alloc":
			b, err := p.Get(r.arg)
			if errors.Is(err, device.ErrOutOfMemory) {
				result = "oom"
			} else {
				live = append(live, b)
			}
		case "free":
			live[r.arg].Release()
		case "free_held":
			p.FreeHeld()
		case "stop_holding":
			p.StopHolding()
		}
		s := p.Stats()
		got := goldenRow{r.op, result, r.arg, r.block, s.ManagedBytes, s.UpstreamAllocs, s.UpstreamFrees,
			s.HeldBlocks, s.ActiveBlocks, s.ManagedBytes, s.ActiveBytes}
		if got != r {
			t.Fatalf("step %d\n%+v, want\n%+v", i, got, r)
		}
	}
}
