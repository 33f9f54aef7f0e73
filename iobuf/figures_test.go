package iobuf

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// What a Buffer takes of its pool, beside the bytes of its message.

// A cut is a Reader that gives pieces of some sizes in turn.
type cut struct {
	of    io.Reader
	sizes []int
	at    int
}

func (c *cut) Read(p []byte) (int, error) {
	c.at++
	return c.of.Read(p[:min(len(p), c.sizes[c.at%len(c.sizes)])])
}

// fillings are ways to write a message.
var fillings = map[string]func(w *Buffer, m []byte) error{
	"ReadFrom": func(b *Buffer, m []byte) error {
		_, err := b.ReadFrom(bytes.NewReader(m))
		return err
	},
	"ReadFrom in pieces": func(b *Buffer, m []byte) error {
		_, err := b.ReadFrom(&cut{of: bytes.NewReader(m), sizes: []int{1, 70_000, 1460, 4096, 300}})
		return err
	},
	"Writes": func(b *Buffer, m []byte) (err error) {
		for i := 0; i < len(m) && err == nil; i += 1000 {
			_, err = b.Write(m[i:min(i+1000, len(m))])
		}
		return err
	},
	"a Write": func(b *Buffer, m []byte) error {
		_, err := b.Write(m)
		return err
	},
}

// takes returns what messages take of a new pool: managed at most, by the bytes of a message, and
// allocated, by those of all.
func takes(t *testing.T, line string, messages, n int, message func(p *slab.Pool)) (managed, allocated float64) {
	t.Helper()
	p := openLine(t, line)
	defer p.Close()
	for range messages {
		message(p)
	}
	checkNoneOut(t, p)
	s := p.Stats()
	return float64(s.PeakManagedBytes) / float64(n), float64(s.AllocatedBytes) / float64(n*messages)
}

const (
	mostManaged   = 1.25
	mostAllocated = 1.35
)

// A message takes little more of the pool than its bytes, the first one and the last of a hundred. That is on one
// processor: of messages that come tens of thousands of times a second each processor's cache may keep a block.
func TestBufferTakesWhatItsMessageNeeds(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("It writes some GB. With the race detector class caches keep some of the blocks.")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, line := range []string{"device=heap", "device=mmap"} {
		for _, n := range []int{100 << 10, 1 << 20, 10 << 20} {
			m := text(n)
			for how, fill := range fillings {
				message := func(p *slab.Pool) {
					b := New(p)
					defer b.Release()
					if err := fill(b, m); err != nil || b.Len() != n {
						t.Fatalf("%s: %s: %d bytes, %v", line, how, b.Len(), err)
					}
				}
				for _, messages := range []int{1, 20} {
					managed, allocated := takes(t, line, messages, n, message)
					t.Logf("%s, %d messages of %d bytes by %s: %.2f managed, %.2f allocated", line, messages, n, how, managed, allocated)
					if managed > mostManaged || allocated > mostAllocated {
						t.Errorf("%s, %d messages of %d bytes by %s: %.2f managed, %.2f allocated", line, messages, n, how, managed, allocated)
					}
				}
			}
		}
	}
}

// The control: a buffer that doubles whenever it is full takes more of both.
func TestDoublingTakesMoreThanItsMessageNeeds(t *testing.T) {
	for _, line := range []string{"device=heap", "device=mmap"} {
		for _, n := range []int{100 << 10, 1 << 20, 10 << 20} {
			managed, allocated := takes(t, line, 1, n, func(p *slab.Pool) {
				b := check.Ok(p.Get(512))(t)
				for have := 512; have <= n; have *= 2 { // a Reader says only then that it has no more
					b = check.Ok(b.Grow(2 * have))(t)
				}
				mustRelease(t, b)
			})
			if managed <= mostManaged || allocated <= mostAllocated {
				t.Errorf("%s, %d bytes: %.2f managed, %.2f allocated", line, n, managed, allocated)
			}
		}
	}
}

// A small message takes a small block.
func TestBufferOfASmallMessage(t *testing.T) {
	for _, line := range []string{"device=heap", "device=mmap"} {
		p := openLine(t, line)
		for _, c := range []struct{ n, most int }{{100, 512}, {1000, 4096}, {4096, 4096}, {10_000, 12_500}} {
			b := New(p)
			for i := 0; i < c.n; i += 100 {
				mustWrite(t, b, text(c.n)[i:min(i+100, c.n)])
			}
			if b.Cap() > c.most || p.Stats().ActiveBytes > int64(c.most) {
				t.Errorf("%s: %d bytes take %d", line, c.n, b.Cap())
			}
			b.Release()
		}
		p.Close()
	}
}
