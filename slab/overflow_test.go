package slab

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// Where there is no room Get makes plain memory, of which Stats has the count, and the bound holds for the rest.
func TestOverflow(t *testing.T) {
	for _, line := range []string{"device=heap", "device=mmap", "device=mmap,strategy=exact", "device=mmap,check,strict", "device=heap,zero"} {
		p := openLine(t, line+",max_bytes=1MiB,overflow=make")
		var list []PooledBuffer
		for range 40 {
			b := mustGet(t, p, 100<<10)
			clear(b.Bytes())
			list = append(list, b)
		}
		s := p.Stats()
		if s.ManagedBytes > 1<<20 || s.OverflowBlocks < 30 || s.OverflowBytes != s.OverflowBlocks*100<<10 || s.Failed != 0 ||
			s.OverflowBlocks+s.ActiveBlocks != 40 {
			t.Errorf("%s: %v", line, s)
		}
		last := list[39]
		part := check.Ok(last.Slice(10, 20))(t)
		grown := check.Ok(last.Grow(5 << 20))(t)
		if last.Bytes() != nil || grown.Len() != 5<<20 {
			t.Errorf("%s: the old handle has %d bytes, the grown one %d", line, len(last.Bytes()), grown.Len())
		}
		mustRelease(t, part)
		list[39] = grown
		releaseAll(t, list)
		if s := p.Stats(); s.OverflowBlocks != 0 || s.OverflowBytes != 0 || s.ActiveBlocks != 0 || s.DoubleReleases != 0 {
			t.Errorf("%s: %v", line, s)
		}
		if !strings.Contains(line, "strict") { // where it panics
			if err := list[39].Release(); !errors.Is(err, ErrReleased) {
				t.Errorf("%s: a second Release: %v", line, err)
			}
		}
		mustRelease(t, mustGet(t, p, 100<<10))
		if s := p.Stats(); s.OverflowBlocks != 0 {
			t.Errorf("%s: plain memory where there was room: %v", line, s)
		}
		check.Must(t, p.Close())
	}
}

// Slices of plain memory are found, and put.
func TestOverflowBySlice(t *testing.T) {
	p := openLine(t, "device=mmap,max_bytes=64KiB,overflow=make")
	room := check.Ok(p.GetBytes(64 << 10))(t)
	m := check.Ok(p.GetBytes(64 << 10))(t)
	if s := p.Stats(); s.OverflowBlocks != 1 {
		t.Error(s)
	}
	if h, ok := p.Lookup(m); !ok || h.Len() != len(m) {
		t.Errorf("Lookup: %v, %v", h, ok)
	}
	for _, b := range [][]byte{m, room} {
		check.Must(t, p.Put(b))
	}
	if err := p.Put(m); !errors.Is(err, ErrForeign) {
		t.Error(err)
	}
	checkNoneOut(t, p)
	own, over := mustGet(t, p, 64<<10), mustGet(t, p, 64<<10)
	for _, b := range []PooledBuffer{own, over} {
		mustRelease(t, b)
		_ = b.Release() // twice, of either kind
	}
	if s := p.Stats(); s.DoubleReleases != 2 {
		t.Errorf("%d double Releases", s.DoubleReleases)
	}
}

// Calls that wait wait, what cannot be fails, and a closed pool makes nothing.
func TestOverflowIsForGetAlone(t *testing.T) {
	p := openLine(t, "device=mmap,max_bytes=64KiB,overflow=make")
	b := mustGet(t, p, 64<<10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var wait *WaitError
	if _, err := p.GetContext(ctx, 64<<10); !errors.As(err, &wait) {
		t.Errorf("GetContext: %v", err)
	}
	if _, err := b.Grow(1 << 20); !errors.Is(err, device.ErrOutOfMemory) {
		t.Errorf("Grow: %v", err)
	}
	if _, err := p.Get(-1); !errors.Is(err, ErrSize) {
		t.Errorf("Get(-1): %v", err)
	}
	over := mustGet(t, p, 1<<20)
	err := p.Close()
	var leak *LeakError
	if !errors.As(err, &leak) || !strings.Contains(err.Error(), "1 buffers of 1048576") {
		t.Errorf("Close: %v", err)
	}
	if _, err := p.Get(10); !errors.Is(err, ErrClosed) {
		t.Errorf("Get after Close: %v", err)
	}
	mustRelease(t, over)
	mustRelease(t, b)
	if _, err := ParseConfig("device=sim,overflow=make"); err == nil {
		t.Error("device memory is made")
	}
	if _, err := ParseConfig("overflow=fail"); err == nil {
		t.Error("overflow=fail was taken")
	}
}

// Forgotten plain memory is found, and Leaks names it.
func TestOverflowIsFound(t *testing.T) {
	p := openLine(t, "device=mmap,max_bytes=64KiB,overflow=make,on_forget=report")
	b := mustGet(t, p, 64<<10)
	func() { mustGet(t, p, 100<<10).Bytes()[0] = 1 }()
	if l := p.Leaks(); len(l) != 2 {
		t.Errorf("%d leaks: %v", len(l), l)
	}
	for p.Stats().OverflowBlocks > 0 {
		runtime.GC()
		runtime.Gosched()
	}
	if n := p.Stats().Forgotten; n != 1 {
		t.Errorf("%d forgotten", n)
	}
	mustRelease(t, b)
}

// Plain memory of a forgotten pool grows as the pool's own does.
func TestOverflowOfAForgottenPoolGrows(t *testing.T) {
	p := openLine(t, "device=mmap,max_bytes=64KiB,overflow=make")
	room, b := mustGet(t, p, 64<<10), mustGet(t, p, 100)
	q := p.pool
	q.abandon()
	eventually(t, "it is closed", func() bool { return q.over.Load().ended.Load() })
	grown := mustGrow(t, b, 1<<20)
	releaseAll(t, []PooledBuffer{room, grown})
}

// Plain memory of GetOn waits for its stream, as the pool's own does.
func TestOverflowOfGetOnWaitsForItsStream(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		p := openLine(t, "device="+dev+",max_bytes=64KiB,overflow=make")
		room, q := mustGet(t, p, 64<<10), &queue{}
		b := mustGetOn(t, p, 64<<10, q)
		mustRelease(t, b)
		if over := p.pool.over.Load(); len(q.Recorded) != 1 || over.pending.Len() != 1 {
			t.Errorf("%s: %d events, %d blocks wait", dev, len(q.Recorded), over.pending.Len())
		}
		if on := p.pool.pending.Uses(b.slot); on != nil {
			t.Errorf("%s: the pool itself still has %d streams of the buffer", dev, len(on))
		}
		q.Finish()
		mustRelease(t, room)
		check.Must(t, p.Close())
	}
}

// Plain memory is clear and aligned as the pool's own is.
func TestOverflowIsLikeThePools(t *testing.T) {
	used := bytes.Repeat([]byte{7}, 1<<20)
	for _, line := range []string{"device=heap,strategy=slab,align=4KiB", "device=mmap,align=1MiB", "device=heap,align=128"} {
		p := openLine(t, line+",zero,max_bytes=2MiB,overflow=make")
		fill := mustGet(t, p, 1<<20+1)
		for i := range 24 {
			b := mustGet(t, p, 1<<20-100*i-1)
			m := b.Bytes()
			if at := uintptr(unsafe.Pointer(unsafe.SliceData(m))); at%uintptr(p.pool.config.Align) != 0 {
				t.Fatalf("%s: a buffer at %#x", line, at)
			}
			if j := slices.IndexFunc(m, func(x byte) bool { return x != 0 }); j >= 0 {
				t.Fatalf("%s: byte %d of buffer %d is not clear", line, j, i)
			}
			copy(m, used)
			if mustRelease(t, b); i%4 == 0 {
				runtime.GC() // so that make finds memory that was used
			}
		}
		mustRelease(t, fill)
		check.Must(t, p.Close())
	}
}
