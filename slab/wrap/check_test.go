package wrap_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/slab/wrap"
)

// Between a Check and its caller may be a strategy over it.
func TestCheckNamesTheCallerOfAStrategy(t *testing.T) {
	for _, name := range slab.Strategies() {
		k := wrap.NewCheck(&source{})
		mustAlloc(t, on(name, k, slab.Config{}), 100)
		if l := k.Leaks(); len(l) == 0 || !strings.Contains(l[0].Site, "_test.go:") {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

func TestCheckListsLeaksBySize(t *testing.T) {
	k := wrap.NewCheck(&source{})
	mustAlloc(t, k, 300)
	gone := mustAlloc(t, k, 200)
	mustAlloc(t, k, 100)
	k.Free(gone)
	l := k.Leaks()
	if len(l) != 2 || l[0].Bytes != 100 || l[1].Bytes != 300 || !strings.Contains(l[0].Site, "_test.go:") {
		t.Errorf("%+v", l)
	}
}

func TestCheckFindsAWriteBeyondABlock(t *testing.T) {
	up := &source{Host: true}
	k := wrap.NewCheck(up)
	b := mustAlloc(t, k, 100)
	device.Bytes(device.Block{Region: b.Region, Off: b.Off, Len: 101})[100]++
	got := fmt.Sprint(panicOf(func() { k.Free(b) }))
	if !strings.HasPrefix(got, "slab: something wrote after a block of 100 bytes, allocated at ") || !strings.Contains(got, "_test.go:") {
		t.Error(got)
	}
	if up.Bytes != 0 || len(k.Leaks()) != 0 {
		t.Errorf("%d bytes are left, and %v", up.Bytes, k.Leaks())
	}
}

func TestCanariesAreRounding(t *testing.T) {
	k := wrap.NewCheck(on("direct", &source{}, slab.Config{}))
	mustAlloc(t, k, 100)
	if u := k.Usage(); u != (slab.Usage{ActiveBlocks: 1, ActiveBytes: 100, RoundingBytes: 128}) {
		t.Errorf("%+v", u)
	}
}
