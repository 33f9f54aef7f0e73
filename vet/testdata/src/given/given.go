// Package given has slices that are given away while their buffers go back, or seem to be.
package given

import (
	"sync"

	"github.com/bufslab/bufslab/slab"
)

type server struct {
	last, before []byte
	in           *server
	out          chan []byte
}

type client struct{ last []byte }

var last []byte

func note() {}

// What follows is right.

func clearedGlobal(b slab.PooledBuffer) {
	defer b.Release()
	last = b.Bytes()
	note()
	last = nil
}

func goroutineIsAwaited(p *slab.Pool, use func([]byte)) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	defer b.Release()
	var all sync.WaitGroup
	all.Add(1)
	go func() {
		use(b.Bytes())
		all.Done()
	}()
	all.Wait()
}

func (s *server) answeredOrDone(b slab.PooledBuffer, done chan bool) {
	s.out <- b.Bytes()
	select {
	case <-done:
	case s.out <- nil:
	}
	b.Release()
}

// The slice that is put is the one of the next round.
func (s *server) ofNextRound(p *slab.Pool, n int) error {
	for {
		m, err := p.GetBytes(10)
		if err != nil {
			return err
		}
		if n--; n < 0 {
			return p.Put(m)
		}
		s.out <- m
	}
}

func (s *server) lentAndAwaited(b slab.PooledBuffer, done chan bool) {
	b.With(func(m []byte) {
		s.out <- m
		<-done
	})
}

func lentToAwaited(b slab.PooledBuffer, use func([]byte, chan bool)) {
	done := make(chan bool)
	b.With(func(m []byte) {
		go use(m, done)
		<-done
	})
}

func (s *server) lentAndCleared(b slab.PooledBuffer) {
	b.With(func(m []byte) {
		s.last = m
		note()
		s.last = nil
	})
}

func (s *server) sendsOther(b slab.PooledBuffer, other []byte) {
	b.With(func(m []byte) {
		s.out <- other
		go note()
		s.last = other
	})
}

func lentToArray(b slab.PooledBuffer) (n int) {
	b.With(func(m []byte) {
		var own [1][]byte
		own[0] = m
		n = len(own[0])
	})
	return n
}

// Nothing but the literal reads the variable.
func lentToOwnVariable(b slab.PooledBuffer) {
	var kept []byte
	b.With(func(m []byte) {
		kept = m[:1]
		print(kept[0])
	})
}

// What follows is not.

func (s *server) inGlobal(b slab.PooledBuffer) {
	defer b.Release()
	last = b.Bytes() // want `slice of the buffer is stored in a field, and outlives the Release`
}

func (s *server) inField(b slab.PooledBuffer) {
	defer b.Release()
	s.in.last = b.Bytes() // want `slice of the buffer is stored in a field, and outlives the Release`
}

func (s *server) otherFieldIsCleared(b slab.PooledBuffer) {
	defer b.Release()
	s.last = b.Bytes() // want `slice of the buffer is stored in a field, and outlives the Release`
	note()
	s.before = nil
}

func (s *server) otherStructIsCleared(b slab.PooledBuffer, c *client) {
	defer b.Release()
	s.last = b.Bytes() // want `slice of the buffer is stored in a field, and outlives the Release`
	note()
	c.last = nil
}

func (s *server) releasedLater(b slab.PooledBuffer, n int) {
	s.last = b.Bytes() // want `slice of the buffer is stored in a field, and outlives the Release`
	for i := range n {
		if i > 10 {
			note()
		}
	}
	b.Release()
}

func (s *server) sentOrNot(b slab.PooledBuffer) {
	select { // want `slice of the buffer is sent, and outlives the Release`
	case s.out <- b.Bytes():
	default:
	}
	b.Release()
}

func lentToGlobal(b slab.PooledBuffer) {
	b.With(func(m []byte) { last = m }) // want `slice is stored in a field, and With ends when its function returns: keep a copy`
}

func keeps(m []byte) { last = m } // want `slice is stored in a field, and With ends when its function returns`

func lentToNamed(b slab.PooledBuffer) { b.With(keeps) }

func (s *server) inFieldWhileItWaits(b slab.PooledBuffer, done chan bool) {
	s.last = b.Bytes() // want `slice of the buffer is stored in a field, and outlives the Release`
	<-done
	b.Release()
}

func lentToVariable(b slab.PooledBuffer) byte {
	var kept []byte
	n := 0
	b.With(func(m []byte) {
		n++
		kept = m // want `slice is kept in a variable, and With ends when its function returns`
	})
	return kept[n]
}

func usedByInnerLiteral(b slab.PooledBuffer, use func([]byte)) {
	data := b.Bytes()
	go func() { // want `slice of the buffer is used by a goroutine, and outlives the Release`
		func() { use(data) }()
	}()
	b.Release()
}
