// Command cells computes on a few thousand cells of a grid, whose amounts of
// data vary, with gonum: for each a matrix of coefficients, its gradient and
// the energies. It does so twice, once with arrays that are made for each cell
// and once with the buffers of a growpool, and tells what either allocated and
// that both have computed the same:
//
//	go run .
package main

import (
	"fmt"
	"math"
	"os"
	"runtime"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/gonum/mat"

	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
)

const cells = 3000

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "cells:", err)
		os.Exit(1)
	}
}

func run() error {
	memory, err := slab.OpenConfig(slab.Config{})
	if err != nil {
		return err
	}
	defer memory.Close()
	pool := growpool.New[string](memory, growpool.Config{})
	defer pool.Close()

	before, err := measure(new(made))
	if err != nil {
		return err
	}
	after, err := measure(pooled{pool})
	if err != nil {
		return err
	}
	if before.sum != after.sum {
		return fmt.Errorf("the sums differ: %v and %v", before.sum, after.sum)
	}
	fmt.Printf("%d cells, sum of all energies %.6g both times\n\n", cells, before.sum)
	fmt.Printf("%-10s %12s %12s %12s\n", "", "arrays made", "allocated", "collections")
	before.print("make")
	after.print("growpool")
	fmt.Println()
	for _, key := range []string{"coeff", "coeff_grad", "E_tilda_lm"} {
		s := pool.Stats()[key]
		fmt.Printf("%-10s %d hits, %d misses, %d grows, %s\n", key, s.Hits, s.Misses, s.Grows,
			humanize.IBytes(uint64(s.Bytes)))
	}
	return nil
}

// A source hands out the arrays of a cell.
type source interface {
	// dense returns a matrix with undefined contents that is good for one cell.
	dense(key string, rows, columns int) (*mat.Dense, error)
	arrays() int64 // made so far
}

// made is what everybody starts with.
type made struct{ count int64 }

func (m *made) dense(_ string, rows, columns int) (*mat.Dense, error) {
	m.count++
	return mat.NewDense(rows, columns, nil), nil
}

func (m *made) arrays() int64 { return m.count }

// pooled takes the memory of a key; what is left to make is gonum's header.
type pooled struct{ pool *growpool.Pool[string] }

func (p pooled) dense(key string, rows, columns int) (*mat.Dense, error) {
	v, err := growpool.Get[float64](p.pool, key, rows, columns)
	if err != nil {
		return nil, err
	}
	return mat.NewDense(rows, columns, v.Slice()), nil
}

func (p pooled) arrays() int64 {
	s := p.pool.Totals()
	return s.Misses + s.Grows
}

// A cost is what a run over all cells took.
type cost struct {
	sum         float64
	arrays      int64
	bytes       uint64
	collections uint32
}

func (c cost) print(name string) {
	fmt.Printf("%-10s %12s %12s %12d\n", name, humanize.Comma(c.arrays), humanize.IBytes(c.bytes), c.collections)
}

func measure(s source) (c cost, err error) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for cell := range cells {
		e, err := energy(s, cell)
		if err != nil {
			return c, err
		}
		c.sum += e
	}
	runtime.ReadMemStats(&after)
	c.arrays, c.bytes, c.collections = s.arrays(), after.TotalAlloc-before.TotalAlloc, after.NumGC-before.NumGC
	return c, nil
}

// shape returns how much data a cell has: more towards the poles, as cells get narrow
// there, and more over mountains.
func shape(cell int) (points, modes int) {
	latitude := math.Pi * (float64(cell)/cells - 0.5)
	mountains := 1 + 0.5*math.Sin(float64(cell)*0.7)
	points = int(200 * mountains * math.Pow(1/max(0.05, math.Cos(latitude)), 0.7))
	return points, 8 + cell%5*4
}

// energy fits the modes of a cell to its points and adds up their squares.
func energy(s source, cell int) (float64, error) {
	points, modes := shape(cell)
	coeff, err := s.dense("coeff", points, modes)
	if err != nil {
		return 0, err
	}
	grad, err := s.dense("coeff_grad", 2*points, modes)
	if err != nil {
		return 0, err
	}
	energies, err := s.dense("E_tilda_lm", modes, modes)
	if err != nil {
		return 0, err
	}
	fill(coeff, grad, cell)
	energies.Mul(grad.T(), grad)
	var sum float64
	for i := range modes {
		sum += energies.At(i, i) + mat.Dot(coeff.ColView(i), coeff.ColView(i))
	}
	return sum / float64(points), nil
}

func fill(coeff, grad *mat.Dense, cell int) {
	points, modes := coeff.Dims()
	for x := range points {
		for k := range modes {
			phase := float64(x*(k+1)+cell) * 0.01
			coeff.Set(x, k, math.Cos(phase))
			grad.Set(2*x, k, -math.Sin(phase))
			grad.Set(2*x+1, k, math.Cos(phase))
		}
	}
}
