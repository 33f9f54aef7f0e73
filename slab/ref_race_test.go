package slab

import (
	"encoding/binary"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// A letter has the Ref of a buffer, and the mark that fills the bytes it opens.
type letter struct {
	ref  Ref
	mark uint64
}

func write(m []byte, mark uint64) {
	for ; len(m) >= 8; m = m[8:] {
		binary.LittleEndian.PutUint64(m, mark)
	}
}

func holds(m []byte, mark uint64) bool {
	for ; len(m) >= 8; m = m[8:] {
		if binary.LittleEndian.Uint64(m) != mark {
			return false
		}
	}
	return true
}

// post hands letters from goroutines that write buffers to goroutines that open them, and returns how
// many of the letters were opened in time. Writers end their handles by end.
func post(t *testing.T, p *Pool, letters, size int, end func(PooledBuffer)) (opened int64) {
	var marks atomic.Uint64
	var count atomic.Int64
	var writers, readers sync.WaitGroup
	box := make(chan letter, 16)
	for range 2 {
		writers.Go(func() {
			for range letters {
				b, err := p.Get(size)
				if err != nil {
					t.Error(err)
					return
				}
				mark := marks.Add(1)
				b.With(func(m []byte) { write(m, mark) })
				part, err := b.Slice(8, size/2)
				if err != nil {
					t.Error(err)
				}
				box <- letter{b.Ref(), mark}
				box <- letter{part.Ref(), mark}
				if mark%4 == 0 {
					runtime.Gosched()
				}
				end(b)
				end(part)
			}
		})
		readers.Go(func() {
			var last [8]letter // to be opened late, too
			i := 0
			for l := range box {
				last[i%len(last)], i = l, i+1
				for _, l := range last {
					b, err := l.ref.Get()
					if err != nil {
						if err != ErrReleased {
							t.Error(err)
						}
						continue
					}
					count.Add(1)
					b.With(func(m []byte) {
						if !holds(m, l.mark) {
							t.Errorf("the Ref of buffer %d opens other bytes", l.mark)
						}
					})
					if err := b.Release(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	writers.Wait()
	close(box)
	readers.Wait()
	return count.Load()
}

var posted = []string{"", "device=mmap", "device=mmap,strategy=bestfit,cache_bytes=0", "device=heap,strategy=direct", "device=mmap,on_forget=report", "device=mmap,max_held=0"}

// While some release buffers and get the memory again, others resolve: each sees the bytes of the buffer
// that the Ref names, or none.
func TestRefsBesideReleases(t *testing.T) {
	opened := int64(0)
	for _, line := range posted {
		for _, size := range []int{200, 20_000} {
			p := openLine(t, line)
			opened += post(t, p, 300, size, func(b PooledBuffer) { mustRelease(t, b) })
			checkNoneOut(t, p)
			if s := p.Stats(); s.Forgotten != 0 {
				t.Errorf("%s: %+v", line, s)
			}
			p.Close()
		}
	}
	if opened == 0 {
		t.Error("no Ref was opened in time")
	}
}

// The same of buffers that are forgotten, while the collector runs: it takes back what nobody has opened,
// and nothing else.
func TestRefsBesideTheCollector(t *testing.T) {
	for _, line := range posted {
		p := openLine(t, line)
		done := make(chan struct{})
		var collector sync.WaitGroup
		collector.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					runtime.GC()
				}
			}
		})
		n := long(t, 40)
		if post(t, p, n, 20_000, func(PooledBuffer) {}) == 0 {
			t.Errorf("%s: no Ref was opened in time", line)
		}
		close(done)
		collector.Wait()
		if !collect(p, func(s Stats) bool { return s.ActiveBlocks == 0 && s.Forgotten >= int64(2*n) }) {
			t.Errorf("%s: %+v", line, p.Stats())
		}
		p.Close()
	}
}
