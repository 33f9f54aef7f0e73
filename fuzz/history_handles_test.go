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
	"unsafe"

	"github.com/anishathalye/porcupine"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// Histories of handles: several goroutines release, share and look up the same buffers. A
// table of who has what explains all results, one call after another.

const (
	share  call = "Share"
	lookup call = "Lookup"
	put    call = "Put"
)

// A held is a handle as the model knows it. The root is what Get returned.
type held struct {
	id   int64
	addr uintptr
	root bool
}

// A use is a call of a handle, or by an address.
type use struct {
	call call
	held
}

// A result has the handle that a call made, if it made one.
type result struct {
	outcome
	made held
}

// stale is what calls of a handle say that was released, and calls by an address that no
// root has.
const stale outcome = gaveUp + 1

// handles is a pool without a budget. Its state is the handles that are not released.
var handles = porcupine.Model{
	Init:  func() any { return []held(nil) },
	Equal: func(a, b any) bool { return slices.Equal(a.([]held), b.([]held)) },
	Step: func(state, in, out any) (bool, any) {
		have, u, r := state.([]held), in.(use), out.(result)
		at := slices.IndexFunc(have, func(h held) bool {
			if u.call == lookup || u.call == put {
				return h.root && h.addr == u.addr
			}
			return h.id == u.id
		})
		switch {
		case u.call == get:
			used := slices.ContainsFunc(have, func(h held) bool { return h.addr == r.made.addr })
			return !used, append(slices.Clone(have), r.made)
		case r.outcome == stale:
			return at < 0, have
		case at < 0:
			return false, have
		case u.call == share:
			return true, append(slices.Clone(have), r.made)
		case u.call == lookup:
			return true, have
		}
		return true, slices.Delete(slices.Clone(have), at, at+1) // Release and Put
	},
}

// A bench has what players share: each takes what any has got.
type bench struct {
	pool  *slab.Pool
	clock atomic.Int64
	ids   atomic.Int64

	mu  sync.Mutex
	all []onBench
}

type onBench struct {
	held
	b slab.PooledBuffer
}

// add puts a handle on the bench, and names it. It asks no method for the address, as a
// late Put of the last owner's may have released the handle already.
func (b *bench) add(h slab.PooledBuffer, root bool) held {
	n := held{b.ids.Add(1), reflect.ValueOf(h).FieldByName("ptr").Pointer(), root}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, onBench{n, h})
	return n
}

// some returns one of the last handles that anybody has got, and may have released.
func (b *bench) some(r *rand.Rand) (o onBench, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.all) == 0 {
		return o, false
	}
	return b.all[len(b.all)-1-r.IntN(min(6, len(b.all)))], true
}

// play makes some calls, and returns what it has noted.
func (b *bench) play(t *testing.T, id int, r *rand.Rand) (notes []porcupine.Operation) {
	note := func(u use, f func() result) {
		from := b.clock.Add(1)
		if r.IntN(4) == 0 {
			runtime.Gosched() // others go on within this call
		}
		out := f()
		notes = append(notes, porcupine.Operation{ClientId: id, Input: u, Call: from, Output: out, Return: b.clock.Add(1)})
	}
	for range 12 {
		o, ok := b.some(r)
		if n := r.IntN(6); ok && n > 0 {
			c := []call{release, release, share, lookup, put}[n-1]
			note(use{c, o.held}, func() result { return b.use(t, c, o) })
			continue
		}
		note(use{call: get}, func() result {
			h, err := b.pool.Get(1000)
			if err != nil {
				t.Error(err)
			}
			return result{made: b.add(h, true)}
		})
	}
	return notes
}

func (b *bench) use(t *testing.T, c call, o onBench) (r result) {
	var err error
	switch c {
	case release:
		err = o.b.Release()
	case put:
		err = b.pool.Put(bytesAt(o.addr))
	case lookup:
		if _, ok := b.pool.Lookup(bytesAt(o.addr)); !ok {
			r.outcome = stale
		}
	case share:
		var h slab.PooledBuffer
		if h, err = o.b.Share(); err == nil {
			r.made = b.add(h, false)
		}
	}
	switch {
	case errors.Is(err, slab.ErrReleased) || errors.Is(err, slab.ErrForeign):
		r.outcome = stale
	case err != nil:
		t.Error(err)
	}
	return r
}

// bytesAt is a slice that was kept after its buffer was released. Its memory is off the Go
// heap, and stays mapped.
func bytesAt(addr uintptr) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), 1)
}

// handlesExplained reports whether the history of a pool on up has an order.
func handlesExplained(t *testing.T, seed uint64, c slab.Config, up slab.Allocator) bool {
	p, err := pool(c)(up)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	b := bench{pool: p}
	var wait sync.WaitGroup
	notes, start := make([][]porcupine.Operation, 4), make(chan struct{})
	for i := range notes {
		wait.Go(func() {
			<-start
			notes[i] = b.play(t, i, rand.New(rand.NewPCG(seed, uint64(i))))
		})
	}
	close(start)
	wait.Wait()
	for _, o := range b.all {
		_ = o.b.Release() // most are released
	}
	return porcupine.CheckOperationsTimeout(handles, slices.Concat(notes...), 10*time.Second) != porcupine.Illegal
}

func TestHistoriesOfHandles(t *testing.T) {
	for _, name := range []string{"direct", "exact", "sizeclass", "bestfit", "slab"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dev := openMmap(t)
			for seed := range histories(t) {
				if !handlesExplained(t, seed, slab.Config{Strategy: name}, dev) {
					t.Fatalf("no order explains history %d", seed)
				}
			}
		})
	}
}

// A device that hands memory out twice is found.
func TestAHistoryOfADoubleHandOutIsFound(t *testing.T) {
	dev := &twice{Device: openMmap(t)}
	for seed := range uint64(100) {
		if !handlesExplained(t, seed, slab.Config{Strategy: "direct"}, dev) {
			return
		}
	}
	t.Error("all histories had an order")
}

// twice gives each memory to two of its blocks. The memory is off the Go heap, as the race
// detector would find the second owner before the history does.
type twice struct {
	device.Device
	mu   sync.Mutex
	last []byte
}

type someRegion struct{ mem []byte }

func (r *someRegion) Size() int     { return len(r.mem) }
func (r *someRegion) Bytes() []byte { return r.mem }

func (d *twice) Alloc(size int) (device.Block, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	mem := d.last
	d.last = nil
	if mem == nil {
		b, err := d.Device.Alloc(size)
		if err != nil {
			return b, err
		}
		mem = device.Bytes(b)
		d.last = mem
	}
	return device.Block{Region: &someRegion{mem}, Len: size}, nil
}

func (d *twice) Free(device.Block) {}
