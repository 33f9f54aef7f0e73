package slab

import (
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// A Get that the reserve serves calls nothing upstream: it is a hit.
func TestAGetBesideAReserveIsAHit(t *testing.T) {
	for _, line := range []string{"device=mmap,reserve=4MiB", "device=mmap,reserve=4MiB,check=true"} {
		p := openLine(t, line)
		mustRelease(t, mustGet(t, p, 1<<20))
		if s := p.Stats(); s.Hits != 1 || s.Misses != 0 || s.UpstreamAllocs == 0 {
			t.Errorf("%s: %+v", line, s)
		}
		check.Must(t, p.Close())
	}
}
