package arena

import (
	"errors"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// The first chunk of a round is the smallest of 8 KiB and its doubles that holds what the round before needed. A piece
// of more than 512 KiB does not count for that, and the rest of a chunk that a piece did not fit into is not needed.
func TestTheNextRoundHasAChunkOfWhatThisOneNeeded(t *testing.T) {
	for _, c := range []struct {
		pieces []int
		chunk  int
	}{
		{[]int{5000}, 8 << 10}, {[]int{8 << 10}, 8 << 10}, {[]int{8<<10 + 1}, 16 << 10}, {[]int{20_000}, 32 << 10},
		{[]int{64 << 10}, 64 << 10}, {[]int{64<<10 + 1}, 128 << 10}, {[]int{512 << 10}, 512 << 10}, {[]int{512<<10 + 1}, 8 << 10},
		{[]int{4096, 4097}, 16 << 10}, {[]int{512 << 10, 512 << 10}, 1 << 20}, {[]int{400 << 10, 400 << 10, 400 << 10}, 1 << 20},
	} {
		p := openPool(t, "heap", slab.Config{})
		u := &arenaUser{t: t, a: New(p)}
		u.get(1)
		u.a.Release() // leaves nothing that counts
		u.pieces = nil
		for _, n := range c.pieces {
			u.get(n)
		}
		u.reset()
		if u.get(1); len(u.a.chunk) != c.chunk || p.Stats().ActiveBytes != int64(c.chunk) {
			t.Errorf("after pieces of %d: a chunk of %d bytes, want %d", c.pieces, len(u.a.chunk), c.chunk)
		}
		u.a.Release()
	}
}

// A piece of half the next chunk is cut from it, a larger one has a buffer of its own. The next chunk is half as large
// where there is no room, and half of that, down to 8 KiB; a piece of 4 KiB or less then fails.
func TestAPieceOfMoreThanHalfAChunkIsAlone(t *testing.T) {
	for _, c := range []struct {
		free, chunk int // bytes that the pool has left, and of the chunk before
		piece       int
		next        int // chunk, 0 for a piece alone, -1 for an error
	}{
		{1 << 20, 0, 4096, 8 << 10}, {1 << 20, 0, 4097, 0},
		{1 << 20, 8 << 10, 8192, 16 << 10}, {1 << 20, 8 << 10, 8193, 0}, {1 << 20, 64 << 10, 64 << 10, 128 << 10},
		{16 << 10, 32 << 10, 8192, 16 << 10}, {16 << 10, 32 << 10, 8193, 0}, {8 << 10, 32 << 10, 4096, 8 << 10},
		{6 << 10, 32 << 10, 4096, -1}, {6 << 10, 32 << 10, 4097, 0}, {6 << 10, 32 << 10, 6 << 10, 0}, {6 << 10, 32 << 10, 6<<10 + 1, -1},
	} {
		p := openLine(t, "device=heap,max_bytes=2MiB,strategy=direct")
		a := New(p)
		for len(a.chunk) < c.chunk {
			mustPiece(t, a, max(1, 3*len(a.chunk)/4)) // two of these do not fit
		}
		mustPiece(t, a, a.left)
		rest := check.Ok(p.Get(2<<20 - int(p.Stats().ActiveBytes) - c.free))(t)
		m, err := a.Get(c.piece)
		next := len(a.chunk)
		if err != nil {
			next = -1
		} else if next == c.chunk {
			next = 0
		}
		if next != c.next || err == nil && len(m) != c.piece || err != nil && !errors.Is(err, device.ErrOutOfMemory) {
			t.Errorf("%d bytes beside a chunk of %d, where %d are free: %d, want %d; %v", c.piece, c.chunk, c.free, next, c.next, err)
		}
		a.Release()
		check.Must(t, rest.Release())
	}
}
