package seeded

import (
	"errors"

	"github.com/bufslab/bufslab/arena"
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

// A lane is a stream with memory for a batch.
type lane struct {
	stream device.Stream
	memory *slab.Pool
}

// enqueue sends a batch through memory of the device.
func (l *lane) enqueue(n int, launch func(dst, src device.Block) error) error {
	src, err := l.memory.GetOn(n, l.stream)
	if err != nil {
		return err
	}
	defer src.Release()
	dst, err := l.memory.GetOn(n, l.stream)
	if err != nil {
		src.Release() // want `buffer is released here and again by the Release deferred on line 24`
		return err
	}
	defer dst.Release()
	return launch(dst.Block(), src.Block())
}

// done says that the work on a buffer is enqueued.
func (l *lane) done(b slab.PooledBuffer) error {
	err := b.Release()
	return errors.Join(err, b.UsedOn(l.stream)) // want `buffer is used after its Release`
}

// finish releases what a batch had.
func (l *lane) finish(b slab.PooledBuffer, err error) error {
	if err != nil {
		drop(b)
	}
	return b.With(func(m []byte) { clear(m) }) // want `buffer is used after its drop`
}

func drop(b slab.PooledBuffer) {
	if err := b.Release(); err != nil {
		panic(err)
	}
}

// names cuts the names of a batch from an arena.
func names(p *slab.Pool, all []string) ([][]byte, error) {
	a := arena.New(p)
	defer a.Release()
	var out [][]byte
	for _, name := range all {
		m, err := a.Get(len(name))
		if err != nil {
			return nil, err
		}
		copy(m, name)
		out = append(out, m)
	}
	return out, nil // missed: the pieces are in a slice of slices
}

// longest is the longest name.
func longest(p *slab.Pool, all []string) ([]byte, error) {
	a := arena.New(p)
	defer a.Release()
	var longest []byte
	for _, name := range all {
		m, err := a.Get(len(name))
		if err != nil {
			return nil, err
		}
		if copy(m, name) > len(longest) {
			longest = m
		}
	}
	return longest, nil // missed: which of the pieces it is depends on the path
}

// sums adds up an array on two sides.
func sums(p *unified.Pool, n int) (sum float32, err error) {
	b, err := unified.Acquire[float32](p, n)
	if err != nil {
		return 0, err
	}
	m, err := b.Host()
	if err != nil {
		return 0, errors.Join(err, b.Release())
	}
	if err := b.Release(); err != nil {
		return 0, err
	}
	for _, x := range m { // want `slice of the buffer is used after its Release`
		sum += x
	}
	return sum, nil
}
