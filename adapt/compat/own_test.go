package compat

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/slab"
)

// What docs/migrating.md says of a pool with get(n) and put(b).

func got(t *testing.T, p *slab.Pool, n int) []byte {
	t.Helper()
	b, err := p.GetBytes(n)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Length and capacity are n, and a slice of no length goes back.
func TestOwnPoolOfBuckets(t *testing.T) {
	for _, line := range lines {
		p := slab.MustOpen(line)
		for _, n := range []int{1, 100, 1000, 4096, 100_000, 3 << 20} {
			b := got(t, p, n)
			if len(b) != n || cap(b) != n {
				t.Errorf("%s: %d of %d for %d", line, len(b), cap(b), n)
			}
			if err := p.Put(b[:0]); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
		even(t, p)
	}
}

// What append has moved is foreign, as is a part and memory of others. On the heap the buffer comes back.
func TestOwnPoolOfForeignSlices(t *testing.T) {
	for _, line := range lines {
		p := slab.MustOpen(line)
		for range 10 {
			moved := append(got(t, p, 10_000), 1)
			b := got(t, p, 10_000)
			for _, foreign := range [][]byte{moved, b[1:], make([]byte, 10_000), nil} {
				if err := p.Put(foreign); !errors.Is(err, slab.ErrForeign) {
					t.Errorf("%s: %v", line, err)
				}
			}
			if err := p.Put(b); err != nil {
				t.Error(err)
			}
		}
		if n := p.Stats().ForeignPuts; n != 40 {
			t.Errorf("%s: %d foreign Puts", line, n)
		}
		runtime.GC()
		if line == "device=heap" {
			eventually(t, "lost buffers come back", func() bool { runtime.GC(); return p.Stats().ActiveBlocks == 0 })
		} else if n := p.Stats().ActiveBlocks; n != 10 {
			t.Errorf("%d are out, not 10", n)
		}
	}
}

func TestOwnPoolPutTwice(t *testing.T) {
	for _, line := range lines {
		p := slab.MustOpen(line)
		b := got(t, p, 100)
		if err := p.Put(b); err != nil {
			t.Error(err)
		}
		if err := p.Put(b); !errors.Is(err, slab.ErrForeign) && !errors.Is(err, slab.ErrReleased) {
			t.Errorf("%s: %v", line, err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", line)
				}
			}()
			p := slab.MustOpen(line + ",strict=true")
			b := got(t, p, 100)
			_ = p.Put(b)
			_ = p.Put(b)
		}()
	}
}

// Where there is no room Get fails, makes or waits.
func TestOwnPoolWithoutRoom(t *testing.T) {
	p := slab.MustOpen("max_bytes=64KiB")
	b := got(t, p, 64<<10)
	if _, err := p.GetBytes(1 << 10); err == nil {
		t.Error("there was room")
	}
	waited := make(chan error)
	go func() {
		b, err := p.GetBytesContext(context.Background(), 64<<10)
		waited <- errors.Join(err, p.Put(b))
	}()
	eventually(t, "it waits", func() bool { return p.Stats().Waiters == 1 })
	if err := errors.Join(p.Put(b), <-waited); err != nil {
		t.Error(err)
	}
	soft := slab.MustOpen("max_bytes=64KiB,overflow=make")
	var out [3][]byte
	for i := range out {
		out[i] = got(t, soft, 64<<10)
	}
	if s := soft.Stats(); s.ManagedBytes > 64<<10 || s.OverflowBlocks != 2 {
		t.Errorf("%+v", s)
	}
	runtime.KeepAlive(out)
}

// With exact the blocks that are held are the buffers that were put; profile_rate=1 says who forgets them.
func TestOwnPoolIsCounted(t *testing.T) {
	p := slab.MustOpen("strategy=exact")
	all, err := p.GetAll(context.Background(), 1<<20, 1<<20, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Put(all[0].Bytes()); err != nil {
		t.Error(err)
	}
	if s := p.Stats(); s.ActiveBlocks != 2 || s.HeldBlocks != 1 || s.ActiveBytes != 2<<20 || s.HeldBytes != 1<<20 {
		t.Errorf("%+v", s)
	}
	p = slab.MustOpen("device=mmap,profile_rate=1")
	forgetful(t, p)
	leaks := p.Leaks()
	if len(leaks) != 1 || !strings.Contains(leaks[0].Site, "own_test.go") && !strings.Contains(leaks[0].Site, "forgetful") {
		t.Errorf("%+v", leaks)
	}
}

func forgetful(t *testing.T, p *slab.Pool) {
	for range 3 {
		got(t, p, 1<<16)[0] = 1
	}
}
