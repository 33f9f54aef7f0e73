package device

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Bytes of pages that have memory are cleared, and no others.
func TestClearPages(t *testing.T) {
	const page, most = 64, 8
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		from, to := r.IntN(page), 1+r.IntN(page)
		pages := make([]uint64, 1+r.IntN(most))
		if len(pages) == 1 && to <= from {
			continue
		}
		memory := bytes.Repeat([]byte{1}, page*len(pages))
		want := bytes.Clone(memory)
		for i := range pages {
			pages[i] = r.Uint64N(2) << 63
			if hasMemory(pages[i]) {
				clear(want[max(from, i*page):min(len(memory)-page+to, (i+1)*page)])
			}
		}
		clearPages(memory[from:len(memory)-page+to], from, page, pages)
		if !bytes.Equal(memory, want) {
			t.Fatalf("seed %d: %d to %d of the pages %x left %v", seed, from, to, pages, memory)
		}
	}
}

// All bytes are zero after a Clear, and those beside are as they were.
func TestClear(t *testing.T) {
	for _, name := range []string{"heap", "mmap"} {
		t.Run(name, func(t *testing.T) {
			d := opened(t, name)
			for seed := range uint64(30) {
				r := rand.New(rand.NewPCG(seed, 2))
				b, err := d.Alloc(1 + r.IntN(3*clearPiece))
				if err != nil {
					t.Fatal(err)
				}
				m := b.Region.(HostRegion).Bytes()
				for range r.IntN(100) {
					m[r.IntN(len(m))] = 1
				}
				from := r.IntN(len(m))
				to := from + 1 + r.IntN(len(m)-from)
				want := bytes.Clone(m)
				clear(want[from:to])
				d.(Clearer).Clear(m[from:to])
				if !bytes.Equal(m, want) {
					t.Errorf("seed %d: %d to %d of %d bytes are not clear, or others are", seed, from, to, len(m))
				}
				d.(Clearer).Clear(nil)
				d.Free(b)
			}
		})
	}
}
