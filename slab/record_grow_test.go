package slab

import (
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// A Grow is one row, whether the memory moves or not, and whoever keeps the buffer: the id goes on.
func TestGrowIsARow(t *testing.T) {
	for _, c := range []struct{ line, device string }{{"bestfit", "mmap"}, {"exact", "mmap"}, {"sizeclass", "heap"}, {"direct", "heap"}} {
		p := openPool(t, c.device, Config{Strategy: c.line, RecordLast: 100})
		b := mustGet(t, p, 1000)
		for _, n := range []int{9000, 10, 5_000_000} {
			b = mustGrow(t, b, n)
		}
		mustRelease(t, b)
		wantRecorded(t, p, "a,0,1000", "g,0,9000", "g,0,10", "g,0,5000000", "f,0,5000000")
	}
}

// So it is for who keeps a slice.
func TestGrowBySliceIsARow(t *testing.T) {
	p := openPool(t, "mmap", Config{RecordLast: 100})
	b := check.Ok(p.GetBytes(1000))(t)
	h, _ := p.Lookup(b)
	check.Must(t, p.Put(mustGrow(t, h, 70_000).Bytes()))
	wantRecorded(t, p, "p,0,4", "a,0,1000", "g,0,70000", "f,0,70000")
}

// While other handles have the memory, and where a part grows, the new memory is an allocation of its own:
// that of before is there until its last handle is released.
func TestGrowBesidePartsIsAnAllocation(t *testing.T) {
	p := openPool(t, "mmap", Config{RecordLast: 100})
	b := mustGet(t, p, 1000)
	part := check.Ok(b.Slice(10, 20))(t)
	b = mustGrow(t, b, 2000)
	part = mustGrow(t, part, 30) // the last handle of the first block
	releaseAll(t, []PooledBuffer{b, part})
	wantRecorded(t, p, "a,0,1000", "a,1,2000", "a,2,30", "f,0,1000", "f,1,2000", "f,2,30")

	p = openPool(t, "mmap", Config{RecordLast: 100})
	b = mustGet(t, p, 1000)
	check.Must(t, b.With(func([]byte) { b = mustGrow(t, b, 90_000) }))
	mustRelease(t, b)
	wantRecorded(t, p, "a,0,1000", "a,1,90000", "f,0,1000", "f,1,90000")
}

// A Grow that fails leaves no row, and the next owner of its memory is recorded as ever.
func TestAGrowThatFailsIsNoRow(t *testing.T) {
	p := openPool(t, "virtual", Config{MaxBytes: 1 << 20, RecordLast: 100})
	b := mustGet(t, p, 1000)
	if _, err := b.Grow(2 << 20); err == nil {
		t.Fatal("there is room")
	}
	mustRelease(t, b)
	mustRelease(t, mustGet(t, p, 1000))
	wantRecorded(t, p, "a,0,1000", "f,0,1000", "a,1,1000", "f,1,1000")
}
