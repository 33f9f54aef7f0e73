package growpool

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/slab"
)

// What Views have, and what keys keep, is no leak of the slab.Pool, if the Pool is closed first. A lease is.
func TestViewsAreNoLeaks(t *testing.T) {
	for _, line := range []string{"device=heap", "device=mmap"} {
		memory := slab.MustOpen(line)
		p := New[string](memory, Config{})
		v := mustGet[byte](t, p, "v", 1000)
		v.Slice()[0] = 1
		w := mustGet[byte](t, p, "v", 20_000) // v is left to the collector
		none := mustGet[byte](t, p, "none", 0)
		l := acquire[byte](t, p, "l", 3000)
		release(t, l)
		if err := errors.Join(p.Close(), memory.Close()); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		runtime.KeepAlive(v)
		runtime.KeepAlive(w)
		runtime.KeepAlive(none)
	}
}

// A lease that is out is one, and the text says what is none.
func TestALeaseIsALeak(t *testing.T) {
	memory := slab.MustOpen("device=mmap")
	p := New[string](memory, Config{})
	v, l := mustGet[byte](t, p, "v", 1000), acquire[byte](t, p, "l", 3000)
	_ = p.Close() // which says that there is a lease
	err := memory.Close()
	var leak *slab.LeakError
	if !errors.As(err, &leak) || leak.Blocks != 1 || leak.Bytes != 3000 || !strings.Contains(err.Error(), "1 more of 1000 bytes are left to the collector by growpool") {
		t.Error(err)
	}
	release(t, l)
	runtime.KeepAlive(v)
}

// A Pool that is not closed is named, as its keys keep what Get has shown.
func TestAnOpenPoolIsNamed(t *testing.T) {
	memory := slab.MustOpen("device=mmap")
	p := New[string](memory, Config{})
	mustGet[byte](t, p, "v", 1000)
	release(t, acquire[byte](t, p, "l", 3000))
	err := memory.Close()
	var leak *slab.LeakError
	if !errors.As(err, &leak) || leak.Blocks != 1 || leak.Bytes != 1000 || !strings.Contains(err.Error(), "1 growpools, or others that keep buffers of it, are not closed") {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// What was left to the collector counts as long as the collector has not found it, and not after that.
func TestWhatIsLeftIsCountedOnce(t *testing.T) {
	memory := openSlab(t, "device=mmap")
	p := New[string](memory, Config{})
	for n := 5000; n < 100_000; n += 5000 {
		mustGet[byte](t, p, "v", n)
	}
	l := acquire[byte](t, p, "l", 3000)
	_ = p.Close()
	for memory.Stats().ActiveBlocks > 1 {
		runtime.GC()
	}
	for memory.Stats().ActiveBlocks == 1 && p.budget.left.total.Blocks.Load() > 0 {
		runtime.GC() // finalizers may still run
	}
	if n := p.budget.left.total.Bytes.Load(); n != 0 {
		t.Errorf("%d bytes are counted", n)
	}
	var leak *slab.LeakError
	if err := memory.Close(); !errors.As(err, &leak) || leak.Blocks != 1 {
		t.Error(err)
	}
	release(t, l)
}
