package percpu

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// A reading of a class cache waits for the end of a move of its magazines, and one of the counts for the end of what
// takes Gets from a class cache to the processor. What has ended meanwhile makes it look again.
func TestAReadingWaitsForTheEndOfAMove(t *testing.T) {
	s := oneCPU(t, Options{Largest: 1 << 10, Bytes: 1 << 20})
	p, class := &s.cpus[0], s.Class(100)
	s.release(s.get(t, 100), 100)
	s.release(s.get(t, 100), 100)
	for what, c := range map[string]struct {
		count *atomic.Uint32
		read  func() int64
	}{
		"moves": {&p.moves, func() int64 { k := p.moment(uint16(class)); return k.served().Gets() }},
		"arms":  {&p.arms, func() int64 { return p.usage(nil).Gets() }},
	} {
		before := c.read()
		begin(c.count)
		var read atomic.Int64
		done := make(chan struct{})
		go func() {
			read.Store(c.read() + 1)
			close(done)
		}()
		for range 1000 {
			runtime.Gosched()
		}
		if read.Load() != 0 {
			t.Errorf("%s: a reading did not wait", what)
		}
		c.count.Add(1)
		if <-done; read.Load() != before+1 {
			t.Errorf("%s: %d Gets, %d before", what, read.Load()-1, before)
		}
	}
}
