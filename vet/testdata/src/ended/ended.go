// Package ended uses buffers after their release: kind a.
package ended

import (
	"errors"
	"io"

	"github.com/bufslab/bufslab/slab"
)

func afterRelease(p *slab.Pool) byte {
	b, err := p.Get(10)
	if err != nil {
		return 0
	}
	b.Release()
	return b.Bytes()[0] // want `buffer is used after its Release on line 16`
}

func beforeRelease(b slab.PooledBuffer) byte {
	x := b.Bytes()[0]
	b.Release()
	return x
}

func sliceAfterRelease(b slab.PooledBuffer, w io.Writer) error {
	data := b.Bytes()[2:]
	b.Release()
	_, err := w.Write(data) // want `slice of the buffer is used after its Release on line 28`
	return err
}

func copied(b slab.PooledBuffer, w io.Writer) error {
	data := append([]byte(nil), b.Bytes()...)
	b.Release()
	_, err := w.Write(data)
	return err
}

func returned(p *slab.Pool) ([]byte, error) {
	b, err := p.Get(10)
	if err != nil {
		return nil, err
	}
	defer b.Release()
	return b.Bytes(), nil // want `slice of the buffer is returned, and the deferred Release ends that before`
}

func returnedByName(b slab.PooledBuffer) (out []byte, err error) {
	defer func() { b.Release() }()
	out = b.Bytes()
	return out, nil // want `slice of the buffer is returned`
}

func returnedAsString(b slab.PooledBuffer) (string, error) {
	defer b.Release()
	return string(b.Bytes()), nil
}

// The release on the path of the error is right only if the path ends.
func noReturn(b slab.PooledBuffer, r io.Reader) []byte {
	_, err := r.Read(b.Bytes())
	if err != nil {
		b.Release()
	}
	return b.Bytes() // want `buffer is used after its Release on line 64`
}

func errorPath(b slab.PooledBuffer, r io.Reader) (slab.PooledBuffer, error) {
	if _, err := r.Read(b.Bytes()); err != nil {
		b.Release()
		return b, err
	}
	return b, nil
}

func onError(p *slab.Pool, r io.Reader) (b slab.PooledBuffer, err error) {
	b, err = p.Get(10)
	if err != nil {
		return b, err
	}
	defer func() {
		if err != nil {
			b.Release()
		}
	}()
	_, err = r.Read(b.Bytes())
	return b, err
}

func flag(b slab.PooledBuffer, early bool) int {
	released := false
	if early {
		b.Release()
		released = true
	}
	if !released {
		n := len(b.Bytes())
		b.Release()
		return n
	}
	return 0
}

func rounds(p *slab.Pool, n int) (sum int) {
	for range n {
		b, err := p.Get(10)
		if err != nil {
			continue
		}
		sum += int(b.Bytes()[0])
		b.Release()
	}
	return sum
}

func oneForAllRounds(b slab.PooledBuffer, n int) (sum int) {
	for range n {
		sum += int(b.Bytes()[0]) // want `buffer is used after its Release`
		b.Release()              // want `released again`
	}
	return sum
}

func lastRound(b slab.PooledBuffer, n int) (sum int) {
	for i := range n {
		sum += int(b.Bytes()[0])
		if i == n-1 {
			b.Release()
		}
	}
	return sum
}

func methodValue(b slab.PooledBuffer) int {
	end := b.Release
	end()
	return len(b.Bytes()) // want `buffer is used after its Release`
}

func asked(b slab.PooledBuffer) bool {
	b.Release()
	return errors.Is(b.Release(), io.EOF)
}

func notReleased(b slab.PooledBuffer) int {
	if !errors.Is(b.Release(), io.EOF) {
		return 0
	}
	return len(b.Bytes())
}

func stored(b slab.PooledBuffer, all map[string]slab.PooledBuffer) error {
	all["x"] = b
	return nil
}

func part(b slab.PooledBuffer) byte {
	c, err := b.Slice(2, 4)
	b.Release()
	if err != nil {
		return 0
	}
	defer c.Release()
	return c.Bytes()[0]
}

func partAfter(b slab.PooledBuffer) {
	b.Release()
	if c, err := b.Share(); err == nil { // want `buffer is used after its Release`
		c.Release()
	}
}

func byBytes(p *slab.Pool) byte {
	b, err := p.GetBytes(10)
	if err != nil {
		return 0
	}
	p.Put(b)
	return b[0] // want `byte slice is used after its Put`
}

func typed(p *slab.Pool) float64 {
	s, err := slab.Make[float64](p, 10)
	if err != nil {
		return 0
	}
	x := s.Slice()
	s.Release()
	return x[0] // want `slice of the buffer is used after its Release`
}

func with(b slab.PooledBuffer) (n int) {
	defer b.Release()
	var kept []byte
	b.With(func(m []byte) {
		n = len(m)
		kept = m[:2] // want `slice is kept in a variable, and With ends when its function returns`
	})
	return n + int(kept[0])
}

func forgottenInTime(b slab.PooledBuffer) (n int) {
	defer b.Release()
	var part []byte
	b.With(func(m []byte) {
		part = m[:2]
		n = int(part[0])
		part = nil
	})
	return n + len(part)
}

func withCopy(b slab.PooledBuffer) []byte {
	defer b.Release()
	var kept []byte
	b.With(func(m []byte) { kept = append(kept, m...) })
	return kept
}

func alias(b slab.PooledBuffer) int {
	c := b
	c.Release()
	return len(b.Bytes()) // want `buffer is used after its Release`
}

func another(p *slab.Pool) int {
	b, err := p.Get(10)
	if err != nil {
		return 0
	}
	b.Release()
	b, err = p.Get(20)
	if err != nil {
		return 0
	}
	defer b.Release()
	return len(b.Bytes())
}

func literal(b slab.PooledBuffer) int {
	func() { b.Release() }()
	return len(b.Bytes()) // want `buffer is used after its release`
}

type holder struct {
	p *slab.Pool
	b slab.PooledBuffer
}

func (h *holder) close() {
	h.b.Release()
	h.b.Release() // want `buffer is released again`
}

func (h *holder) renew() (err error) {
	h.b.Release()
	h.b, err = h.p.Get(10)
	if err != nil {
		return err
	}
	h.b.Bytes()[0] = 1
	return nil
}

func (h *holder) renewElsewhere() {
	h.b.Release()
	h.renew()
	h.b.Bytes()[0] = 1
}

func (h *holder) other(g *holder) {
	h.b.Release()
	g.b.Bytes()[0] = 1
}
