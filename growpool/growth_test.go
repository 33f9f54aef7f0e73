package growpool

import (
	"math"
	"math/bits"
	"strconv"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

func TestPolicies(t *testing.T) {
	for _, c := range []struct {
		text       string
		have, want int
		bytes      int
	}{
		{"exact", 100, 101, 101},
		{"pow2", 0, 100, 128}, {"pow2", 128, 129, 256}, {"pow2", 0, 1 << 29, 1 << 29}, {"pow2", 0, 1, 1},
		{"factor=1.5", 0, 100, 100}, {"factor=1.5", 100, 101, 150}, {"factor=1.5", 100, 1000, 1000}, {"factor=1.5", 3, 4, 5},
		{"factor=2", math.MaxInt - 5, math.MaxInt - 4, math.MaxInt - 4},
		{"steps=4", 0, 1025, 1280}, {"steps=4", 0, 1280, 1280}, {"steps=16", 0, 1025, 1088}, {"steps=1", 0, 100, 128},
		{"steps=1024", 0, 1, 1}, {"steps=1024", 0, 1<<20 + 1, 1<<20 + 1<<10},
		{"steps=8", 0, math.MaxInt, math.MaxInt},
	} {
		g, err := ParseGrowth(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if n := g(c.have, c.want); n != c.bytes {
			t.Errorf("%s: %d for %d, had %d; want %d", c.text, n, c.want, c.have, c.bytes)
		}
	}
	for _, text := range []string{"", "exact=1", "pow2=2", "factor", "factor=1", "factor=-2", "factor=NaN", "factor=+Inf", "steps=3", "steps=0", "steps=2048", "double"} {
		if _, err := ParseGrowth(text); err == nil {
			t.Errorf("%q is no policy", text)
		}
	}
}

// A policy that asks for more than there is gives way to what is needed, and
// one that gives less than is needed is not believed.
func TestPolicyIsAWish(t *testing.T) {
	p := New[string](openSlab(t, "device=heap,max_bytes=1000,strategy=direct"), Config{Growth: Pow2})
	mustGet[byte](t, p, "k", 600)
	wantStats(t, p, "k", KeyStats{Misses: 1, Bytes: 600})
	p = New[string](openSlab(t, ""), Config{Growth: func(int, int) int { return 1 }})
	mustGet[byte](t, p, "k", 600)
	wantStats(t, p, "k", KeyStats{Misses: 1, Bytes: 600})
	for budget, want := range map[int64]int64{1023: 600, 1024: 1024} {
		p := open(t, Config{MaxBytes: budget, Growth: Pow2})
		mustGet[byte](t, p, "k", 600)
		wantStats(t, p, "k", KeyStats{Misses: 1, Bytes: want})
	}
}

// figures of a policy on a recording: buffers made, new ones included, and the
// bytes held by the sum of the largest request of each key.
func figures(t *testing.T, name string, g Growth) (grows, misses int64, held, peak float64) {
	p := New[string](openSlab(t, "device=virtual,strategy=direct"), Config{Growth: g})
	bound := map[string]int{}
	var sum int
	for _, row := range check.SharedRows(t, name) {
		n, err := strconv.Atoi(row[2])
		if err != nil {
			t.Fatal(err)
		}
		release(t, acquire[byte](t, p, row[1], n))
		sum += max(0, n-bound[row[1]])
		bound[row[1]] = max(bound[row[1]], n)
	}
	s, u := p.Totals(), p.MemoryUsage()
	return s.Grows, s.Misses, float64(u.TotalBytes) / float64(sum), float64(u.PeakBytes) / float64(sum)
}

// A recorded service: what the policies need for it, and that Steps lies below the
// line from Exact to Pow2.
func TestPoliciesOnARecording(t *testing.T) {
	if bits.UintSize < 64 {
		t.Skip("the recording needs 15 GiB of addresses")
	}
	const name = "keyed/azure-code.csv.gz"
	exact, misses, held, peak := figures(t, name, Exact)
	if exact+misses > 325 || held != 1 || peak != 1 {
		t.Errorf("exact: %d grows and %d misses, held %.4f, peak %.4f", exact, misses, held, peak)
	}
	pow2, misses2, heldPow2, _ := figures(t, name, Pow2)
	if pow2+misses2 > 115 || heldPow2 > 1.084 {
		t.Errorf("pow2: %d grows and %d misses, held %.4f", pow2, misses2, heldPow2)
	}
	for _, n := range []int{8, 16, 32} {
		grows, _, held, peak := figures(t, name, Steps(n))
		line := 1 + (heldPow2-1)*float64(exact-grows)/float64(exact-pow2)
		t.Logf("steps=%d: %d grows, held %.4f, peak %.4f; the line has %.4f there", n, grows, held, peak, line)
		if held >= line || grows >= exact {
			t.Errorf("steps=%d: %d grows, held %.4f, the line has %.4f there", n, grows, held, line)
		}
	}
}
