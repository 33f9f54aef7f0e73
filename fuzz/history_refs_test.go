package fuzz_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// Histories of references: several goroutines acquire, open the references of any, and release. The
// table of who has what, handles, explains all results: a reference opens what is not released, and no
// memory has an owner more until all have released it.

// A desk has what players share: each opens and releases what any has got.
type desk struct {
	lender lender
	clock  atomic.Int64
	ids    atomic.Int64

	mu  sync.Mutex
	all []onDesk
}

type onDesk struct {
	held
	text string
	h    holder
}

// add puts a holder on the desk that only the caller has, and names it.
func (d *desk) add(h holder) held {
	own, _ := h.Bytes()
	n := held{id: d.ids.Add(1), addr: reflect.ValueOf(own).Pointer()}
	o := onDesk{n, h.Text(), h}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, o)
	return n
}

// some returns one of the last holders that anybody has got, and may have released.
func (d *desk) some(r *rand.Rand) (o onDesk, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.all) == 0 {
		return o, false
	}
	return d.all[len(d.all)-1-r.IntN(min(4, len(d.all)))], true
}

// play makes some calls, and returns what it has noted.
func (d *desk) play(t *testing.T, id int, r *rand.Rand) (notes []porcupine.Operation) {
	note := func(u use, f func() (result, error)) {
		from := d.clock.Add(1)
		if r.IntN(4) == 0 {
			runtime.Gosched() // others go on within this call
		}
		out, err := f()
		if errors.Is(err, slab.ErrReleased) {
			out.outcome, err = stale, nil
		}
		if err == nil {
			notes = append(notes, porcupine.Operation{ClientId: id, Input: u, Call: from, Output: out, Return: d.clock.Add(1)})
		} else if !errors.Is(err, errLeased) {
			t.Error(err)
		}
	}
	for range 10 {
		o, ok := d.some(r)
		switch n := r.IntN(4); {
		case ok && n == 0:
			note(use{release, o.held}, func() (result, error) { return result{}, o.h.Release() })
		case ok && n < 3:
			note(use{share, o.held}, func() (result, error) { return d.made(d.lender.Open(o.text)) })
		default:
			note(use{call: get}, func() (result, error) { return d.made(d.lender.Get(0, 1000)) })
		}
	}
	return notes
}

var errLeased = errors.New("the key is leased")

// made puts a holder on the desk.
func (d *desk) made(h holder, err error) (result, error) {
	if err != nil {
		return result{}, err
	}
	if h == nil {
		return result{}, errLeased
	}
	return result{made: d.add(h)}, nil
}

// refsExplained reports whether the history of a lender has an order.
func refsExplained(t *testing.T, seed uint64, l lender) bool {
	d := desk{lender: l}
	var wait sync.WaitGroup
	notes, start := make([][]porcupine.Operation, 3), make(chan struct{})
	for i := range notes {
		wait.Go(func() {
			<-start
			notes[i] = d.play(t, i, rand.New(rand.NewPCG(seed, uint64(i))))
		})
	}
	close(start)
	wait.Wait()
	for _, o := range d.all {
		_ = o.h.Release() // most are released
	}
	return porcupine.CheckOperationsTimeout(handles, slices.Concat(notes...), 10*time.Second) != porcupine.Illegal
}

func TestHistoriesOfReferences(t *testing.T) {
	for name, open := range map[string]func() (lender, error){
		"leases":  openLeases("device=mmap", growpool.Config{}),
		"private": openLeases("device=mmap", growpool.Config{Private: true}),
		"twins":   openTwins,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := check.Ok(open())(t)
			for seed := range histories(t) {
				if !refsExplained(t, seed, l) {
					t.Fatalf("no order explains history %d", seed)
				}
			}
			check.Must(t, l.Close(0))
		})
	}
}

// hasty gives a key's lease to the next owner although a reference to it was opened.
type hasty struct{ lender }

func (h hasty) Open(text string) (holder, error) {
	o, err := h.lender.Open(text)
	if err != nil {
		return nil, err
	}
	own, _ := o.Bytes()
	return overdue{own, text, new(atomic.Bool)}, o.Release()
}

// An overdue holder shows what it does not have any more, until it is released.
type overdue struct {
	own  []byte
	text string
	over *atomic.Bool
}

func (o overdue) Bytes() ([]byte, error) { return o.own, nil }
func (o overdue) Text() string           { return o.text }

func (o overdue) Release() error {
	if o.over.Swap(true) {
		return slab.ErrReleased
	}
	return nil
}

// References that do not keep the lease are found out.
func TestAHistoryOfAHastyLeaseIsFound(t *testing.T) {
	l := check.Ok(openLeases("device=mmap", growpool.Config{})())(t)
	for seed := range uint64(200) {
		if !refsExplained(t, seed, hasty{l}) {
			return
		}
	}
	t.Error("all histories had an order")
}
