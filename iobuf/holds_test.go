package iobuf

import (
	"bytes"
	"io"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// What a Buffer holds follows from what has come.

// others has a pool serve eight messages of 16 MiB, in all ways. Some of their Buffers are Reset, for the next peer.
func others(t *testing.T, p *slab.Pool) (kept []*Buffer) {
	m := text(16 << 20)
	for range 2 {
		for _, fill := range fillings {
			b := New(p)
			check.Must(t, fill(b, m))
			b.Bytes()
			b.Reset()
			kept = append(kept, b)
		}
	}
	return kept
}

// A peer sends its bytes one Read at a time. At each Read, and then for good, it may be silent: so it looks at what
// the Buffer holds, and how many bytes came.
type peer struct {
	t     *testing.T
	p     *slab.Pool
	piece int
	came  int
	total int
}

func (r *peer) Read(m []byte) (int, error) {
	if got := r.p.Stats().ActiveBytes; got > mostFor(r.came) {
		r.t.Fatalf("%d bytes came, %d are held", r.came, got)
	}
	if r.came == r.total {
		return 0, io.EOF
	}
	n := min(len(m), r.piece, r.total-r.came)
	r.came += n
	return n, nil
}

// mostFor is the most that a Buffer may hold for bytes that came, as the documentation of Buffer says it.
func mostFor(came int) int64 {
	switch {
	case came < 4<<10:
		return 4 << 10 // for ReadFrom 512 at first; a Buffer that was Reset keeps up to 4 KiB
	case came <= 32<<10:
		return 64 << 10
	case came >= 512<<10:
		return 6 * int64(came) / 5 // says docs/bodies.md
	}
	return 2 * int64(came)
}

// Whatever others sent: without a byte, with one, and with any number.
func TestWhatABufferHoldsFollowsFromWhatCame(t *testing.T) {
	for _, line := range []string{"device=heap", "device=mmap"} {
		p := openLine(t, line)
		kept := others(t, p)
		if got := p.Stats().ActiveBytes; got > int64(len(kept))*mostFor(0) {
			t.Errorf("%s: %d bytes are held by Buffers that were Reset", line, got)
		}
		for _, b := range kept {
			b.Release()
		}
		for _, b := range []*Buffer{kept[0], New(p)} {
			for piece, total := range map[int]int{1: 6000, 100: 100_000, 1460: 400_000, 1 << 20: 3 << 20} {
				n, err := b.ReadFrom(&peer{t: t, p: p, piece: piece, total: total})
				if n != int64(total) || err != nil {
					t.Fatalf("%s: %d bytes, %v", line, n, err)
				}
				b.Reset()
				b.Release()
			}
			for total := 0; total < 1<<20; total += 100 + total/2 { // by Writes
				mustWrite(t, b, make([]byte, 100+total/2))
				if got := p.Stats().ActiveBytes; got > mostFor(b.Len()) {
					t.Errorf("%s: %d bytes are held for %d", line, got, b.Len())
				}
			}
			b.Release()
		}
		p.Close()
	}
}

// The control: Buffers that begin with the size of the last message would hold it for a silent peer.
func TestTheLastSizeIsMoreThanABufferMayHold(t *testing.T) {
	p := openLine(t, "device=heap")
	b := others(t, p)[0]
	check.Must(t, b.Grow(16<<20))
	defer b.Release()
	if got := p.Stats().ActiveBytes; got <= mostFor(1) {
		t.Errorf("%d bytes are held", got)
	}
}

// One in fifty that sends 16 MiB changes nothing for the others: they take as many Gets, and as many bytes.
func TestOutliersChangeNothingForOthers(t *testing.T) {
	for _, line := range []string{"device=heap", "device=mmap"} {
		var took [2][2]int64
		for outliers := range 2 {
			p, large := openLine(t, line), make([]byte, 16<<20)
			for i := range 200 {
				b := New(p)
				if i%50 == 0 && outliers == 1 {
					check.Ok(b.ReadFrom(bytes.NewReader(large)))(t)
					b.Release()
					continue
				}
				before := p.Stats()
				check.Ok(b.ReadFrom(bytes.NewReader(large[:1000])))(t)
				after := p.Stats()
				if i%50 != 0 {
					took[outliers][0] += after.Hits + after.Misses - before.Hits - before.Misses
					took[outliers][1] += after.AllocatedBytes - before.AllocatedBytes
				}
				b.Release()
			}
			p.Close()
		}
		if took[0] != took[1] {
			t.Errorf("%s: Gets and bytes of small messages: %v, beside outliers %v", line, took[0], took[1])
		}
	}
}
