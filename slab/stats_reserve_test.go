package slab

import "testing"

// A Get that the reserve serves calls nothing upstream: it is a hit.
func TestAGetBesideAReserveIsAHit(t *testing.T) {
	p := openLine(t, "device=mmap,reserve=4MiB")
	defer p.Close()
	mustRelease(t, mustGet(t, p, 1<<20))
	if s := p.Stats(); s.Hits != 1 || s.Misses != 0 || s.UpstreamAllocs == 0 {
		t.Errorf("%+v", s)
	}
}
