package slab

import (
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/replaying"
)

// The extents of a pool add up to what it manages, and a strategy without a page heap has none.
func TestExtentsAddUpToTheManagedBytes(t *testing.T) {
	for strategy, want := range map[string]bool{"direct": false, "exact": false, "bitlog": false, "sizeclass": false, "bestfit": true, "slab": true} {
		p, err := OpenConfig(Config{Device: "virtual", Strategy: strategy})
		if err != nil {
			t.Fatal(err)
		}
		var out []PooledBuffer
		for size := range 500 {
			b, err := p.Get(1 + 97*size)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, b)
		}
		releaseThirds(t, out)
		all, has := replaying.Extents(p)
		bytes := map[replaying.State]int64{}
		for _, x := range all {
			bytes[x.State] += int64(x.Len)
		}
		s := p.Stats()
		memory := s.ManagedBytes - bytes[replaying.Used] - bytes[replaying.Free] - bytes[replaying.Lost]
		if has != want || has && (memory != 0 || bytes[replaying.Used] < s.ActiveBytes) {
			t.Errorf("%s: has extents: %v, %v, %+v", strategy, has, bytes, s)
		}
	}
}

// releaseThirds releases every third buffer, so that there are gaps.
func releaseThirds(t *testing.T, out []PooledBuffer) {
	t.Helper()
	for i := 0; i < len(out); i += 3 {
		if err := out[i].Release(); err != nil {
			t.Fatal(err)
		}
	}
}

// A replay neither clears nor copies: on memory without bytes it can do what the program did.
func TestAReplayHasNoContents(t *testing.T) {
	p := openPool(t, "virtual", Config{Strategy: "exact", Zero: true})
	m, err := replaying.Reopen(p, 1)
	check.Must(t, err)
	m.RunOn(0)
	mustRelease(t, mustGrow(t, mustGet(t, p, 100), 20_000))
}
