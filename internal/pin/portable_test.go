//go:build bufslab_portable && !race

package pin

import (
	"runtime"
	"slices"
	"sync"
	"testing"
)

// takeAll pins the caller until no number is left.
func takeAll() (all []Processor) {
	runtime.GC() // two of them empty what no processor has
	runtime.GC()
	p := Pin()
	for ; p.number != unnumbered; p = Pin() {
		all = append(all, p)
	}
	Unpin(p)
	return all
}

// Each number is had once; a Pin that finds none is unnumbered, and only until one is free.
func TestNumbersAreHadOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // others do not see what one puts back last
	all := takeAll()
	var ids []int
	for _, p := range all {
		ids = append(ids, p.ID())
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != Numbers() || ids[0] != 0 || ids[len(ids)-1] != Numbers()-1 {
		t.Errorf("numbers %v of %d", ids, Numbers())
	}
	Unpin(all[0])
	if p := Pin(); p.ID() != all[0].ID() {
		t.Errorf("number %d where %d is free", p.ID(), all[0].ID())
	}
	for _, p := range all {
		Unpin(p)
	}
}

// A number that was lost is had again when the collector has noticed.
func TestLostNumbersComeBack(t *testing.T) {
	for range 3 {
		if n := len(takeAll()); n != Numbers() { // and loses them
			t.Fatalf("%d of %d numbers", n, Numbers())
		}
	}
}

// Who is preempted keeps the number.
func TestThePreemptedKeepTheirNumbers(t *testing.T) {
	for _, p := range takeAll() {
		Unpin(p)
	}
	counters := make([]int, Numbers())
	var many sync.WaitGroup
	var rest sync.Mutex
	none := 0
	const goroutines, each = 8, 20_000
	for range goroutines {
		many.Go(func() {
			for range each {
				p := Pin()
				if id := p.ID(); id < len(counters) {
					n := counters[id]
					runtime.Gosched()
					counters[id] = n + 1
				} else {
					rest.Lock()
					none++
					rest.Unlock()
				}
				Unpin(p)
			}
		})
	}
	many.Wait()
	sum := none
	for _, n := range counters {
		sum += n
	}
	if sum != goroutines*each || none == sum {
		t.Errorf("%d of %d increments are left, %d without a number", sum, goroutines*each, none)
	}
}
