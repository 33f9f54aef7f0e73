package pageheap

import (
	"errors"
	"testing"

	"github.com/bufslab/bufslab/device"
)

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
		if p.policy.calls != 1 || p.policy.beside != 0 {
			t.Errorf("%d calls, %d for equal blocks", p.policy.calls, p.policy.beside)
		}
	}
}

// Memory can grow where it is if a range has the addresses: to ask takes none of it.
func TestMemoryOfRangesExtends(t *testing.T) {
	for _, c := range []struct {
		up   *pages
		n    int
		want bool
	}{
		{&pages{RangeBytes: mib}, mib - page, true},
		{&pages{RangeBytes: mib}, mib - page + 1, false},
		{&pages{Ranges: -1}, page, false},
	} {
		p := start(c.up, Options{})
		if got := p.Extends(c.n); got != c.want || c.up.Bytes != 0 {
			t.Errorf("%d bytes extend: %t; %d bytes upstream", c.n, got, c.up.Bytes)
		}
	}
}

// Prefill says why it got nothing.
func TestPrefillThatFails(t *testing.T) {
	p := start(&pages{Source: source{Capacity: page}}, Options{})
	if err := p.Prefill(2 * page); !errors.Is(err, device.ErrOutOfMemory) || p.managed != 0 {
		t.Errorf("%v, %d bytes managed", err, p.managed)
	}
}
