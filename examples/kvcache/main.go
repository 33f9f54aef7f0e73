// Command kvcache keeps the caches of an inference server: for each sequence the keys and
// values of all its tokens in one piece, which gets longer with every token. It does so with
// slices that append makes longer, with slices that double, and with buffers of a pool that
// grow where they are:
//
//	go run .
package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/bufslab/bufslab/slab"
)

const (
	tokenBytes = 128 << 10 // keys and values of one token, in all layers
	atOnce     = 8         // sequences that are served at a time
)

func main() {
	if err := run(os.Stdout, randomLengths(48, 384)); err != nil {
		fmt.Fprintln(os.Stderr, "kvcache:", err)
		os.Exit(1)
	}
}

// randomLengths returns the tokens of n sequences, the same in each run.
func randomLengths(n, most int) []int {
	r := rand.New(rand.NewPCG(3, 4))
	lengths := make([]int, n)
	for i := range lengths {
		lengths[i] = 1 + r.IntN(most)
	}
	return lengths
}

func run(out io.Writer, lengths []int) error {
	fmt.Fprintf(out, "%d sequences, %d at a time, %d KiB a token\n\n", len(lengths), atOnce, tokenBytes>>10)
	fmt.Fprintf(out, "%-10s%9s%10s%11s%14s%11s%15s%7s\n",
		"", "time", "in place", "copied", "longest step", "peak live", "peak resident", "ratio")
	for _, v := range variants {
		c, err := v.serve(lengths)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		fmt.Fprintf(out, "%-10s%9v%8.1f %%%11s%14v%11s%15s%7.2f\n", v.name, c.time.Round(time.Millisecond),
			100*float64(c.grown-c.copies)/float64(c.grown), mib(c.copied), c.longest.Round(10*time.Microsecond),
			mib(c.peakLive), mib(c.peakResident), float64(c.peakResident)/float64(c.peakLive))
	}
	return nil
}

func mib(n int) string { return fmt.Sprintf("%d MiB", n>>20) }

var variants = []struct {
	name  string
	serve func(lengths []int) (cost, error)
}{
	{"append", func(l []int) (cost, error) { return serve(l, func() sequence { return new(appended) }) }},
	{"doubling", func(l []int) (cost, error) { return serve(l, func() sequence { return new(doubled) }) }},
	{"Grow", serveGrown},
}

func serveGrown(lengths []int) (c cost, err error) {
	pool := slab.MustOpen("device=mmap,strategy=slab")
	defer func() { err = errors.Join(err, pool.Close()) }()
	return serve(lengths, func() sequence { return &grown{pool: pool} })
}

// A sequence is the cache of one sequence.
type sequence interface {
	// extend makes the cache n bytes longer and returns all of it. What it has returned
	// before is stale.
	extend(n int) ([]byte, error)
	release() error
}

// appended leaves it to append.
type appended struct{ all []byte }

func (s *appended) extend(n int) ([]byte, error) {
	s.all = append(s.all, make([]byte, n)...) // the compiler makes no slice of this
	return s.all, nil
}

func (s *appended) release() error { return nil }

// doubled copies less often, and has up to half of its memory to spare.
type doubled struct{ all []byte }

func (s *doubled) extend(n int) ([]byte, error) {
	if len(s.all)+n > cap(s.all) {
		longer := make([]byte, len(s.all), max(2*cap(s.all), n))
		copy(longer, s.all)
		s.all = longer
	}
	s.all = s.all[:len(s.all)+n]
	return s.all, nil
}

func (s *doubled) release() error { return nil }

// grown has the pool put memory behind that which it has. Only where other memory lies there
// does Grow copy, to a place with room.
type grown struct {
	pool *slab.Pool
	all  slab.PooledBuffer
}

func (s *grown) extend(n int) (_ []byte, err error) {
	if s.all.Len() == 0 {
		s.all, err = s.pool.Get(n)
	} else {
		s.all, err = s.all.Grow(s.all.Len() + n)
	}
	return s.all.Bytes(), err
}

func (s *grown) release() error { return s.all.Release() }
