// Package outlive keeps slices longer than their buffers: kind d.
package outlive

import (
	"sync"

	"github.com/bufslab/bufslab/arena"
	"github.com/bufslab/bufslab/slab"
)

type server struct {
	last []byte
	out  chan []byte
}

func (s *server) field(p *slab.Pool) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	defer b.Release()
	s.last = b.Bytes() // want `slice of the buffer is stored in a field, and outlives the Release on line 21`
}

func (s *server) clearedField(b slab.PooledBuffer, use func()) {
	defer b.Release()
	s.last = b.Bytes()
	use()
	s.last = nil
}

type request struct{ body []byte }

func ofItsOwn(b slab.PooledBuffer, send func(*request)) {
	defer b.Release()
	send(&request{body: b.Bytes()})
}

func (s *server) channel(b slab.PooledBuffer) {
	s.out <- b.Bytes()[:5] // want `slice of the buffer is sent, and outlives the Release`
	b.Release()
}

func (s *server) answered(b slab.PooledBuffer, done chan bool) {
	s.out <- b.Bytes()
	<-done
	b.Release()
}

func launched(b slab.PooledBuffer, use func([]byte)) {
	defer b.Release()
	go use(b.Bytes()) // want `slice of the buffer is used by a goroutine, and outlives the Release`
}

func captured(b slab.PooledBuffer, use func([]byte)) {
	data := b.Bytes()
	go func() { use(data) }() // want `slice of the buffer is used by a goroutine`
	b.Release()
}

func capturedHandle(p *slab.Pool, use func([]byte)) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	defer b.Release()
	go func() { use(b.Bytes()) }() // want `buffer is used by a goroutine, and outlives the Release`
}

func capturedTheSecond(p *slab.Pool, use func([]byte)) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	b.Release()
	if b, err = p.Get(20); err != nil {
		return
	}
	n := 1
	go func() { // want `buffer is used by a goroutine, and outlives the Release`
		n++
		use(b.Bytes())
	}()
	b.Release()
}

func waited(b slab.PooledBuffer, use func([]byte)) {
	defer b.Release()
	var all sync.WaitGroup
	all.Add(1)
	go func() {
		defer all.Done()
		use(b.Bytes())
	}()
	all.Wait()
}

func releasedThere(b slab.PooledBuffer, use func([]byte), ok bool) {
	if !ok {
		b.Release()
		return
	}
	go func() {
		defer b.Release()
		use(b.Bytes())
	}()
}

// The goroutine releases what the function got, on the paths on which it runs.
func handedOverHere(p *slab.Pool, use func([]byte), ok bool) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	if ok {
		go func() {
			defer b.Release()
			use(b.Bytes())
		}()
	}
	if !ok {
		b.Release()
	}
}

func handedOver(b slab.PooledBuffer, use func([]byte), ok bool) {
	if ok {
		go func() {
			defer b.Release()
			use(b.Bytes())
		}()
	}
	if !ok {
		b.Release()
	}
}

func slicesInSlice(p *slab.Pool) (out [][]byte, err error) {
	a := arena.New(p)
	defer a.Release()
	m, err := a.Get(10)
	return append(out, m), err // want `slice of the Arena is put into a list that is kept, and outlives the Release on line \d+: append a copy, or leave the Release to the owner of the list`
}

func capturedList(p *slab.Pool) (all [][]byte) {
	read := func() error {
		b, err := p.Get(10)
		if err != nil {
			return err
		}
		defer b.Release()
		all = append(all, b.Bytes()) // want `slice of the buffer is put into a list that is kept`
		return nil
	}
	read()
	return all
}

func listOfItsOwn(p *slab.Pool, send func([][]byte)) error {
	b, err := p.Get(10)
	if err != nil {
		return err
	}
	defer b.Release()
	var all [][]byte
	all = append(all, []byte("head"), b.Bytes())
	send(all)
	return nil
}

func listOfCopies(p *slab.Pool, all [][]byte) ([][]byte, error) {
	b, err := p.Get(10)
	if err != nil {
		return nil, err
	}
	defer b.Release()
	return append(all, append([]byte(nil), b.Bytes()...)), nil
}
