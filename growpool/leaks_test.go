package growpool

import (
	"strings"
	"testing"
)

// A leak by way of a growpool is that of the program's line, not of one of growpool.
func TestLeaksAreOfTheCallersLine(t *testing.T) {
	below := openSlab(t, "strict=true")
	p := New[string](below, Config{})
	defer p.Close()
	mustGet[byte](t, p, "a view", 1000)
	l := acquire[byte](t, p, "a lease", 1000)
	defer release(t, l)
	leaks := below.Leaks()
	if len(leaks) != 2 {
		t.Fatalf("%+v", leaks)
	}
	for _, l := range leaks {
		if !strings.Contains(l.Site, "_test.go:") {
			t.Errorf("got at %s", l.Site)
		}
	}
}
