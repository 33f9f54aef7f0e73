package pageheap

import "testing"

// A heap is filled once by Prefill, with one call, on ranges and on segments.
func TestPrefillTakesOneCall(t *testing.T) {
	for _, segments := range []bool{false, true} {
		up := &pages{RangeBytes: 4 << 20}
		p := start(on(up, segments), Options{})
		if err := p.Prefill(1<<20 - 5); err != nil {
			t.Fatal(err)
		}
		for range 16 {
			p.mustAlloc(t, 64<<10)
		}
		if p.mustCheck(t, &up.Source); up.Bytes != 1<<20 || up.Calls != 1 || p.PeakUsed() != 1<<20 {
			t.Errorf("%d bytes by %d calls, a peak of %d", up.Bytes, up.Calls, p.PeakUsed())
		}
	}
}
