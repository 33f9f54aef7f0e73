package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/bufslab/bufslab/arena"
	"github.com/bufslab/bufslab/bench/internal/report"
	"github.com/bufslab/bufslab/iobuf"
	"github.com/bufslab/bufslab/slab"
)

// Buffers that grow, beside bytes.Buffers, and an Arena beside handles, in turns:
//
//	go test -run 'Buffers|Arena' -v .

// An author is a way to have a buffer, to let write fill it, and to let it go.
type author struct {
	name string
	use  func(write func(io.Writer))
}

// authors returns those that are compared. Those of ours draw on p.
func authors(p *slab.Pool) []author {
	plain := sync.Pool{New: func() any { return new(bytes.Buffer) }}
	kept := sync.Pool{New: func() any { return iobuf.New(p) }}
	return []author{
		{"ours, released", func(write func(io.Writer)) {
			b := iobuf.New(p)
			write(b)
			b.Release()
		}},
		{"ours, reset in a sync.Pool", func(write func(io.Writer)) {
			b := kept.Get().(*iobuf.Buffer)
			write(b)
			b.Reset()
			kept.Put(b)
		}},
		{"bytes.Buffer in a sync.Pool", func(write func(io.Writer)) {
			b := plain.Get().(*bytes.Buffer)
			write(b)
			b.Reset()
			plain.Put(b)
		}},
		{"bytes.Buffer", func(write func(io.Writer)) { write(new(bytes.Buffer)) }},
	}
}

// messages returns what writes n bytes, in pieces as an encoder does.
func messages(n func() int, piece int) func(io.Writer) {
	m := make([]byte, piece)
	return func(w io.Writer) {
		for left := n(); left > 0; left -= piece {
			if _, err := w.Write(m[:min(left, piece)]); err != nil {
				panic(err)
			}
		}
	}
}

// mixed draws sizes that are log-uniform from 64 B to 256 KiB, the same for all.
func mixed() func() int {
	r := rand.New(rand.NewPCG(3, 4))
	return func() int { return int(64 * math.Exp2(12*r.Float64())) }
}

const buffersATurn = 2000

// turn times a turn of a, and counts the bytes that it allocates, for a buffer.
func (a author) turn(write func(io.Writer)) (ns, allocated float64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	for range buffersATurn {
		a.use(write)
	}
	t := time.Since(begin)
	runtime.ReadMemStats(&after)
	return float64(t.Nanoseconds()) / buffersATurn, float64(after.TotalAlloc-before.TotalAlloc) / buffersATurn
}

// All take the same messages; the first rounds are not counted.
func TestBuffersBesideOthers(t *testing.T) {
	for _, w := range []struct {
		name  string
		sizes func() func() int
		piece int
	}{
		{"4 KB in pieces of 64 B", func() func() int { return func() int { return 4000 } }, 64},
		{"60 KB in pieces of 4 KiB", func() func() int { return func() int { return 60_000 } }, 4 << 10},
		{"64 B to 256 KiB in pieces of 512 B", mixed, 512},
	} {
		p := openLine(t, "device=heap")
		all := authors(p)
		times, bytes := make([][]float64, len(all)), make([][]float64, len(all))
		for round := range 12 {
			for i, a := range all {
				ns, allocated := a.turn(messages(w.sizes(), w.piece))
				if round >= 2 {
					times[i], bytes[i] = append(times[i], ns), append(bytes[i], allocated)
				}
			}
		}
		for i, a := range all {
			t.Logf("%s: %s: %.0f ns, %.0f B/op", w.name, a.name, report.SpreadOf(times[i]).Median, report.SpreadOf(bytes[i]).Median)
		}
		if err := p.Close(); err != nil {
			t.Log(err) // what sync.Pools keep
		}
	}
}

// keptAbove returns the live bytes of the Go heap above those at base.
func keptAbove(base uint64) string {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return fmt.Sprintf("%.1f MB", (float64(m.HeapAlloc)-float64(base))/1e6)
}

// What one buffer of 10 MiB leaves behind, among buffers of 4 KB.
func TestBuffersKeepNoOutlier(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a sync.Pool has one of its own for each
	small, large := messages(func() int { return 4000 }, 512), messages(func() int { return 10 << 20 }, 4<<10)
	for i := range authors(nil) {
		p := openLine(t, "device=heap")
		a := authors(p)[i]
		a.use(small)
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		a.use(large)
		for range 3 {
			runtime.GC()
			for range 20 {
				a.use(small)
			}
		}
		at := keptAbove(m.HeapAlloc)
		held := p.Stats().HeldBytes
		p.FreeHeld() // as the pool does after 10 seconds
		t.Logf("%s: %s, of which the pool holds %.1f MB for others; %s when that has gone back", a.name, at, float64(held)/1e6, keptAbove(m.HeapAlloc))
		a.use(small)
	}
}

// Fifty pieces and a Reset take at most a sixth of the time of fifty handles got and released.
func TestArenaBesideHandles(t *testing.T) {
	p := openLine(t, "device=heap")
	a := arena.New(p)
	var handles [50]slab.PooledBuffer
	rounds := map[string]func(){
		"handles": func() {
			for i := range handles {
				handles[i], _ = p.Get(40)
				handles[i].Bytes()[0] = 1
			}
			for _, b := range handles {
				b.Release()
			}
		},
		"arena": func() {
			for range handles {
				m, _ := a.Get(40)
				m[0] = 1
			}
			a.Reset()
		},
		"arena, of 8 int64s": func() {
			for range handles {
				m, _ := arena.Make[int64](a, 8)
				m[0] = 1
			}
			a.Reset()
		},
		"make": func() {
			for i := range made {
				made[i] = make([]byte, 40)
				made[i][0] = 1
			}
		},
	}
	times := map[string][]float64{}
	for range 40 {
		for name, f := range rounds {
			begin := time.Now()
			for range 1000 {
				f()
			}
			times[name] = append(times[name], float64(time.Since(begin).Nanoseconds())/1000)
		}
	}
	base := report.SpreadOf(times["handles"]).Median
	for name, list := range times {
		t.Logf("%s: %.0f ns, %.3f of the handles'", name, report.SpreadOf(list).Median, report.SpreadOf(list).Median/base)
	}
	if share := report.SpreadOf(times["arena"]).Median / base; share > 1.0/6 {
		t.Errorf("%.3f of the handles'", share)
	}
}

// made keeps slices on the heap.
var made [50][]byte
