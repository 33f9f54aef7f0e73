package wrap_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/slab/wrap"
)

func TestRecordWritesWhatHappened(t *testing.T) {
	var w strings.Builder
	r := wrap.NewRecord(&source{Capacity: 5000}, &w)
	a := mustAlloc(t, r, 4096)
	r.Alloc(0)
	r.Alloc(9999)
	b := mustAlloc(t, r, 20)
	wrong := b
	wrong.Len = 9
	if panicOf(func() { r.Free(wrong) }) == nil { // leaves no line: the one that is meant comes later
		t.Error("Free of 9 bytes, of a block of 20, did not panic")
	}
	r.Free(a)
	r.Free(device.Block{})
	r.Free(b)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if want := "op,id,size\na,0,4096\na,1,20\nf,0,4096\nf,1,20\n"; w.String() != want {
		t.Errorf("got %q, want %q", w.String(), want)
	}
}

func TestRecordPassesOnWhatItDidNotSee(t *testing.T) {
	var w strings.Builder
	up := &source{}
	early := mustAlloc(t, up, 7)
	r := wrap.NewRecord(up, &w)
	r.Free(early)
	if got := panicOf(func() { r.Free(early) }); got != "upstreamtest: Free of a block that is not out, 7 bytes at offset 0" {
		t.Error("panic", got)
	}
	late := mustAlloc(t, r, 8)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r.Free(late)
	r.Free(mustAlloc(t, r, 9))
	if want := "op,id,size\na,0,8\n"; w.String() != want || up.Bytes != 0 {
		t.Errorf("got %q, want %q; %d bytes left", w.String(), want, up.Bytes)
	}
}

// full is a disk that takes n bytes.
type full struct{ n int }

var errFull = errors.New("disk full")

func (f *full) Write(p []byte) (int, error) {
	if f.n -= len(p); f.n < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestRecordReportsTheFirstWriteErrorAtClose(t *testing.T) {
	r := wrap.NewRecord(&source{}, &full{n: 5000})
	for range 2000 {
		r.Free(mustAlloc(t, r, 1<<20)) // what the program does goes on
	}
	for range 2 {
		if err := r.Close(); err != errFull {
			t.Errorf("Close: %v", err)
		}
	}
}

func TestRecordOfConcurrentUseIsATrace(t *testing.T) {
	var w bytes.Buffer
	up := &source{}
	r := wrap.NewRecord(on("exact", up, slab.Config{}), &w)
	var all sync.WaitGroup
	for g := range uint64(4) {
		all.Go(func() {
			random := rand.New(rand.NewPCG(g, 9))
			for range 500 {
				b, err := r.Alloc(1 + random.IntN(3))
				if err != nil {
					t.Error(err)
				}
				r.Free(b)
			}
		})
	}
	all.Wait()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	checkTrace(t, w.Bytes(), 2000)
}

// checkTrace verifies that ids are dense and that each is freed once, with its size.
func checkTrace(t *testing.T, text []byte, allocs int) {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 1+2*allocs {
		t.Fatal(err, len(rows))
	}
	next, out := 0, map[string]string{}
	for _, row := range rows[1:] {
		switch op, id, size := row[0], row[1], row[2]; {
		case op == "a" && id == strconv.Itoa(next):
			out[id] = size
			next++
		case op == "f" && out[id] == size:
			delete(out, id)
		default:
			t.Fatalf("line %v when the next id is %d", row, next)
		}
	}
}

func TestRecordAllocatesNothing(t *testing.T) {
	r := wrap.NewRecord(on("exact", &source{}, slab.Config{}), &full{n: 1 << 30})
	if n := check.Allocs(1000, func() { r.Free(mustAlloc(t, r, 100)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
