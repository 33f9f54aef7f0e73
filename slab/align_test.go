package slab

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// Blocks begin at multiples of align, on each device and with each strategy that can: in memory, and in
// their region where the CPU does not reach it. So they do from the caches, after Grow, below a Limit, and
// after what was held went back.
func TestAlignBeyondAPage(t *testing.T) {
	t.Parallel() // with pools of its own
	for _, dev := range []string{"mmap", "mmap:fixed", "virtual:4GiB", "sim:1GiB", "sim:1GiB:pinned"} {
		for _, s := range []string{"sizeclass", "bestfit", "slab"} {
			for _, align := range []int{8 << 10, 64 << 10, 2 << 20} {
				configs := []Config{{}, {MaxBytes: 1 << 30}, {CacheBytes: -1}}
				if align == 8<<10 {
					configs = configs[:1]
				}
				for _, c := range configs {
					c.Device, c.Strategy, c.Align = dev, s, align
					t.Run(c.String(), func(t *testing.T) {
						p, err := OpenConfig(c)
						check.Must(t, err)
						alignedRounds(t, p, align)
						check.Must(t, p.Close())
					})
				}
			}
		}
	}
}

func alignedRounds(t *testing.T, p *Pool, align int) {
	t.Helper()
	for range 2 { // the second has what the first gave back
		var out []PooledBuffer
		for _, n := range []int{1, 100, 4096, 5000, 70_000, 1 << 20, 3 << 20} {
			b := mustGet(t, p, n)
			wantAligned(t, b, align)
			if n < 1<<20 && p.Device().Name() != "virtual:4GiB" { // which has nothing to copy
				grown, err := b.Grow(4 * n)
				check.Must(t, err)
				wantAligned(t, grown, align)
				b = grown
			}
			if m := b.Bytes(); m != nil {
				device.Fill(m, 7)
			}
			out = append(out, b)
		}
		releaseAll(t, out)
		p.Trim(1)
	}
	p.FreeHeld()
	if m := p.Stats().ManagedBytes; m != 0 {
		t.Errorf("%d bytes are left", m)
	}
}

func wantAligned(t *testing.T, b PooledBuffer, align int) {
	t.Helper()
	if m := b.Bytes(); m != nil {
		if a := uintptr(unsafe.Pointer(unsafe.SliceData(m))); a%uintptr(align) != 0 {
			t.Fatalf("%d bytes at %#x", len(m), a)
		}
	} else if off := b.Block().Off; off%align != 0 {
		t.Fatalf("%d bytes at offset %d", b.Len(), off)
	}
}

// A pool on a Limit of the program's has its alignment, too, and a strategy of the program's that was
// not told of it does not: nothing is handed out that is not aligned.
func TestAlignOverALimit(t *testing.T) {
	for _, s := range []string{"sizeclass", "bestfit"} {
		p := mustOpen(t, NewLimit(NewLimit(openDevice(t, "mmap:fixed"), 1<<30), 1<<30), Config{Strategy: s, Align: 64 << 10})
		alignedRounds(t, p, 64<<10)
		check.Must(t, p.Close())
	}
}

// The heap says in a sentence what it cannot do, before anything happens; other devices that cannot
// be trusted with it do so, too.
func TestAlignThatADeviceCannot(t *testing.T) {
	for _, line := range []string{"align=8192", "device=heap,strategy=slab,align=2097152", "device=cuda:0,align=65536", "device=opencl:0,align=65536",
		"device=cuda:0:pinned,align=8KiB", "device=metal:0,align=16KiB", "device=metal:0:pinned,align=2MiB"} {
		var bad *ConfigError
		_, err := ParseConfig(line)
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), "aligns blocks to 4096 bytes at most") {
			t.Errorf("%s: %v", line, err)
		}
	}
	_, err := Open(openDevice(t, "heap"), Config{Align: 8192})
	if err == nil || !strings.Contains(err.Error(), "device heap aligns blocks to 4096 bytes at most") {
		t.Error(err)
	}
	for _, n := range []int{4 << 20, 3 << 12} {
		if _, err := ParseConfig(fmt.Sprintf("device=mmap,align=%d", n)); err == nil {
			t.Error(n)
		}
	}
}
