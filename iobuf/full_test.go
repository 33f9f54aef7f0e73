package iobuf

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// Buffers beside a budget that is nearly used up.

// nearlyFull opens a pool of 64 MiB of which 60 are out until the end of the test.
func nearlyFull(t *testing.T, dev string) *slab.Pool {
	p := openLine(t, "device="+dev+",max_bytes=64MiB")
	out := make([]slab.PooledBuffer, 60)
	for i := range out {
		out[i] = check.Ok(p.Get(1 << 20))(t)
	}
	t.Cleanup(func() {
		for _, h := range out {
			mustRelease(t, h)
		}
	})
	return p
}

// A body for which there is no room is refused after a few Gets, and what came of it can be read. Nearly all of the
// budget was used: the next segment has at most an eighth of what came, and a sixteenth of that is left.
func TestBufferBesideAFullBudget(t *testing.T) {
	want := text(10 << 20)
	for _, dev := range []string{"heap", "mmap"} {
		p := nearlyFull(t, dev)
		for what, write := range map[string]func(b *Buffer) (int64, error){
			"ReadFrom": func(b *Buffer) (int64, error) { return b.ReadFrom(bytes.NewReader(want)) },
			"Write": func(b *Buffer) (n int64, err error) {
				for err == nil {
					_, err = b.Write(want[n : n+100])
					n += 100
				}
				return n - 100, err
			},
			"WriteByte": func(b *Buffer) (n int64, err error) {
				for ; err == nil; n++ {
					err = b.WriteByte(want[n])
				}
				return n - 1, err
			},
		} {
			b, before := New(p), p.Stats()
			n, err := write(b)
			after := p.Stats()
			if !errors.Is(err, device.ErrOutOfMemory) || n != int64(b.Len()) || after.ManagedBytes < after.MaxBytes-64<<10 {
				t.Errorf("%s on %s: %d bytes, Len %d, %d managed, %v", what, dev, n, b.Len(), after.ManagedBytes, err)
			}
			took, failed := after.Hits+after.Misses-before.Hits-before.Misses, after.Failed-before.Failed
			if took > 200 || failed > 20 {
				t.Errorf("%s on %s: %d Gets, and %d that failed", what, dev, took, failed)
			}
			wantSegments(t, b, want[:b.Len()])
			wantContents(t, b, want[:b.Len()])
			b.Release()
		}
	}
}

// The control: to go on with what a byte needs takes more segments than are allowed above.
func TestSegmentsOfAByteAreTooMany(t *testing.T) {
	p := nearlyFull(t, "heap")
	first := check.Ok(p.Get(3 << 20))(t)
	t.Cleanup(func() { mustRelease(t, first) })
	taken := 0
	for ; taken <= 200; taken++ { // as Buffers once did
		h, err := p.Get(1)
		if err != nil {
			break
		}
		t.Cleanup(func() { mustRelease(t, h) })
	}
	if taken <= 200 {
		t.Errorf("%d segments", taken)
	}
}

// Many bodies at a time, of which the budget has room for some: all of them come in turn, a piece each. As a body is
// refused others go on in its memory, so as many are served as there is room for at a time. No body hangs, and
// none has other bytes.
func TestBodiesShareAFullBudget(t *testing.T) {
	const clients, size, piece = 24, 1800 << 10, 16 << 10
	want := text(size)
	for _, line := range []string{"device=heap,max_bytes=16MiB", "device=mmap,max_bytes=16MiB"} {
		p := openLine(t, line)
		served := 0
		var writers [clients]*io.PipeWriter
		var results [clients]chan error
		for i := range clients {
			r, w := io.Pipe()
			writers[i], results[i] = w, make(chan error, 1)
			go func() {
				b := New(p)
				_, err := b.ReadFrom(r)
				if !bytes.HasPrefix(want, b.Bytes()) || err == nil && b.Len() != size {
					err = errors.New("other bytes")
				}
				b.Release()
				r.CloseWithError(err)
				results[i] <- err
			}()
		}
		for at := 0; at < size; at += piece {
			for _, w := range writers {
				w.Write(want[at:min(at+piece, size)]) // fails where the body was refused
			}
		}
		for i, w := range writers {
			w.Close()
			switch err := <-results[i]; {
			case err == nil:
				served++
			case !errors.Is(err, device.ErrOutOfMemory):
				t.Errorf("%s: %v", line, err)
			}
		}
		if most := 16 << 20 / size; served < most-2 {
			t.Errorf("%s: %d of %d were served, there is room for %d", line, served, clients, most)
		}
		checkNoneOut(t, p)
		p.Close()
	}
}
