// Package outlive keeps slices longer than their buffers: kind d.
package outlive

import (
	"sync"

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
	s.last = b.Bytes() // want `slice of the buffer is stored in a field, and outlives the Release on line 20`
}

func (s *server) clearedField(p *slab.Pool, use func()) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	defer b.Release()
	s.last = b.Bytes()
	use()
	s.last = nil
}

type request struct{ body []byte }

func ofItsOwn(p *slab.Pool, send func(*request)) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	defer b.Release()
	send(&request{body: b.Bytes()})
}

func (s *server) channel(p *slab.Pool) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	s.out <- b.Bytes()[:5] // want `slice of the buffer is sent, and outlives the Release`
	b.Release()
}

func (s *server) answered(p *slab.Pool, done chan bool) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	s.out <- b.Bytes()
	<-done
	b.Release()
}

func launched(p *slab.Pool, use func([]byte)) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	defer b.Release()
	go use(b.Bytes()) // want `slice of the buffer is used by a goroutine, and outlives the Release`
}

func captured(p *slab.Pool, use func([]byte)) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
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

func waited(p *slab.Pool, use func([]byte)) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	defer b.Release()
	var all sync.WaitGroup
	all.Add(1)
	go func() {
		defer all.Done()
		use(b.Bytes())
	}()
	all.Wait()
}

func releasedThere(p *slab.Pool, use func([]byte), ok bool) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	if !ok {
		b.Release()
		return
	}
	go func() {
		defer b.Release()
		use(b.Bytes())
	}()
}

func handedOver(p *slab.Pool, use func([]byte), ok bool) {
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
