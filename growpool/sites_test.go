package growpool

import (
	"bytes"
	"strings"
	"testing"
)

// A recording with record_sites has the caller's lines, not those of this package.
func TestRecordSitesAreTheCallers(t *testing.T) {
	below := openSlab(t, "device=mmap,record_last=100,record_sites=true")
	p := New[string](below, Config{})
	defer p.Close()
	for _, n := range []int{10, 10_000} {
		if _, err := Get[byte](p, "got", n); err != nil {
			t.Fatal(err)
		}
		if _, err := Get[byte](p, "plane", 2, 2, n); err != nil {
			t.Fatal(err)
		}
		l, err := Acquire[byte](t.Context(), p, "leased", n)
		if err != nil {
			t.Fatal(err)
		}
		release(t, l)
	}
	var text bytes.Buffer
	if err := below.WriteRecord(&text); err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(text.String()) {
		if strings.Contains(line, ".go:") {
			found++
			if !strings.Contains(line, "sites_test.go:") {
				t.Errorf("%s", line)
			}
		}
	}
	if found != 6 {
		t.Errorf("%d places in\n%s", found, &text)
	}
}
