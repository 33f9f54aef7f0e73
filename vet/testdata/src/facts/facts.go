// Package facts calls functions of another package that release, borrow and keep.
package facts

import (
	"helpers"

	"github.com/bufslab/bufslab/slab"
)

func afterPut() int {
	b := helpers.Get()
	helpers.Put(b)
	return b.Len() // want `pooled object is used after its Put`
}

func afterEnd(p *slab.Pool) int {
	b, err := helpers.Open(p)
	if err != nil {
		return 0
	}
	helpers.End(b)
	return len(b.Bytes()) // want `buffer is used after its End`
}

func endTwice(p *slab.Pool) {
	b, err := helpers.Open(p)
	if err != nil {
		return
	}
	defer helpers.End(b)
	helpers.End(b) // want `buffer is released here and again by the End deferred`
}

func afterMaybe(p *slab.Pool) int {
	b, err := helpers.Open(p)
	if err != nil {
		return 0
	}
	helpers.Maybe(b, false)
	return len(b.Bytes())
}

func leak(p *slab.Pool) int {
	b, err := helpers.Open(p) // want `buffer of Open is never released, returned or passed on`
	if err != nil {
		return 0
	}
	return helpers.Sum(b)
}

func kept(p *slab.Pool) {
	b, err := helpers.Open(p)
	if err != nil {
		return
	}
	helpers.Keep(b)
}
