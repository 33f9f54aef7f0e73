package device

import (
	"bytes"
	"math/rand/v2"
	"os"
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

// Whatever byte of a page or of a piece a Clear begins and ends with, it clears those bytes and no others.
func TestClearFromAndTo(t *testing.T) {
	page := os.Getpagesize()
	ends := []int{0, 1, page - 1, page, page + 1, clearPiece - 1, clearPiece, clearPiece + 1, clearPiece + page + 1}
	for _, name := range []string{"heap", "mmap"} {
		d := opened(t, name)
		b, err := d.Alloc(clearPiece + 2*page)
		if err != nil {
			t.Fatal(err)
		}
		m := Bytes(b)
		Fill(m, 1)
		for i, from := range ends {
			for _, to := range ends[i:] {
				d.(Clearer).Clear(m[from:to])
				if n := bytes.Count(m, []byte{0}); n != to-from || bytes.Count(m[from:to], []byte{0}) != n {
					t.Errorf("%s: %d bytes are clear after a Clear from %d to %d", name, n, from, to)
				}
				Fill(m[from:to], 1)
			}
		}
		d.Free(b)
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
