// Package planner finds places for the blocks of a recorded program that overlap as little
// as their times allow: offline, with the whole trace known. It tries eight simple rules,
// keeps the best, and then improves that by local search. Package slab takes the result as
// hints: strategy plan.
//
//	blocks.go   from a trace to blocks with a beginning and an end
//	place.go    one rule: blocks in an order, each in a gap
//	overlap.go  which placed blocks live at the same time
//	search.go   the eight rules, and local search
package planner

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/bufslab/bufslab/internal/learned"
	"github.com/bufslab/bufslab/internal/wholefile"
	"github.com/bufslab/bufslab/trace"
)

// Options say how to plan.
type Options struct {
	Align int // of offsets, a power of two; 0 is 64, as of strategy plan
	// Ceiling is the most that a plan may have, in bytes; 0 is no bound. If all blocks do not
	// fit below it, the smallest stay without a place: best fit serves these better.
	Ceiling int64
	// More is asked again and again whether there is time left. If there is none before all
	// blocks have a place, the smallest stay without. nil ends after the eight rules.
	More func() bool
}

// A Plan says where the blocks of a trace lie.
type Plan struct {
	Floor  int64 // the most aligned bytes that were allocated at a time: no plan is lower
	Height int64 // bytes of the plan
	Blocks int   // that have a place
	file   learned.Plan
}

// Make plans for the allocations of a trace. Blocks of no bytes have no place. A keyed trace
// gives an error that wraps [trace.ErrKeyed], and one with more bytes at a time than can be counted one that
// wraps [trace.ErrSize].
func Make(t *trace.Trace, o Options) (*Plan, error) {
	if o.Align == 0 {
		o.Align = 64
	}
	r, err := read(t.Ops(), o.Align)
	if err != nil {
		return nil, err
	}
	s := newSearch(r, o)
	s.run()
	p := &Plan{Floor: r.floor, Height: s.height, file: make(learned.Plan, r.steps)}
	for i, b := range r.blocks {
		if s.best[i] != nowhere {
			p.Blocks++
			p.file[b.step] = append(p.file[b.step], learned.Hint{Size: b.asked, Off: int(s.best[i])})
		}
	}
	return p, nil
}

// Save writes the plan to a file, compressed if the name ends in .gz. If it fails, a file that
// was there is as before.
func (p *Plan) Save(path string) error { return wholefile.Replace(path, p.save) }

func (p *Plan) save(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(path, ".gz") {
		return errors.Join(p.Write(f), f.Close())
	}
	z := gzip.NewWriter(f)
	return errors.Join(p.Write(z), z.Close(), f.Close())
}

// Write writes the plan as text, a line for every block: see Config.Plan of package slab.
func (p *Plan) Write(w io.Writer) error { return learned.WritePlan(w, p.file) }
