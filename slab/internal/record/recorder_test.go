package record

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/tracefile"
)

// A disk keeps what is written. While it is stuck it takes nothing.
type disk struct {
	mu    sync.Mutex
	text  bytes.Buffer
	parts int
	stuck chan struct{}
}

func (d *disk) Write(p []byte) (int, error) {
	if d.stuck != nil {
		<-d.stuck
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.parts++
	return d.text.Write(p)
}

func (d *disk) rows() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Fields(d.text.String())[1:]
}

func wantRows(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("rows are %v, want %v", got, want)
	}
}

// A row is written a second after its call, and not before: by one Write.
func TestRowsAreWrittenAfterASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		r := To(d, Options{})
		<-time.After(time.Minute)
		for range 3 {
			r.Free(r.Alloc(9), 9)
			<-time.After(300 * time.Millisecond)
		}
		synctest.Wait()
		wantRows(t, d.rows())
		<-time.After(100 * time.Millisecond)
		synctest.Wait()
		wantRows(t, d.rows(), "a,0,9", "f,0,9", "a,1,9", "f,1,9", "a,2,9", "f,2,9")
		if d.parts != 2 {
			t.Errorf("%d writes, with that of the header", d.parts)
		}
		r.Alloc(7)
		<-time.After(time.Second)
		synctest.Wait()
		wantRows(t, d.rows()[6:], "a,3,7")
	})
}

// Rows of 12 bytes, such as a,1000000,1, which is the first.
const (
	firstID  = 1_000_000
	fullPart = (partBytes + 11) / 12
	halfPart = (partBytes/2 + 11) / 12
)

// A part that is half full is written at once. While the disk is stuck two parts are
// taken, and the next call waits. No event is lost, nor out of order.
func TestCallsWaitForTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		r := To(d, Options{})
		r.next = firstID
		for range halfPart {
			r.Alloc(1)
		}
		synctest.Wait()
		if n := len(d.rows()); n > 0 {
			t.Errorf("%d rows are written before half a part is full", n)
		}
		r.Alloc(1)
		synctest.Wait()
		if n := len(d.rows()); n != halfPart+1 {
			t.Errorf("%d rows are written", n)
		}
		d.stuck = make(chan struct{})
		for range halfPart + 1 {
			r.Alloc(1)
		}
		synctest.Wait() // the disk has those
		before := runtime.NumGoroutine()
		for range fullPart {
			r.Alloc(1)
		}
		if n := runtime.NumGoroutine() - before; n > 1 {
			t.Errorf("%d goroutines wait to write one part", n)
		}
		late := false
		go func() {
			r.Alloc(1)
			late = true
		}()
		synctest.Wait()
		if late {
			t.Error("a call did not wait for room")
		}
		close(d.stuck)
		synctest.Wait()
		if err := r.Close(); err != nil || !late {
			t.Error(err, late)
		}
		rows := d.rows()
		for i, row := range rows {
			if row != fmt.Sprintf("a,%d,1", firstID+i) {
				t.Fatalf("row %d is %s", i, row)
			}
		}
		if want := 2*(halfPart+1) + fullPart + 1; len(rows) != want {
			t.Errorf("%d rows, want %d", len(rows), want)
		}
	})
}

// A kill loses 64 KiB of rows at most: those that wait, and those that are being written.
func TestAKillLosesAtMost64KiB(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &gate{let: make(chan struct{}, 1)}
		d.let <- struct{}{} // for the header
		r := To(d, Options{})
		r.next = firstID
		var rows atomic.Int64 // whose calls are over
		go func() {
			for range 5 * fullPart {
				r.Alloc(1)
				rows.Add(1)
			}
			r.Close()
		}()
		most := 0
		for range 5 {
			synctest.Wait()
			most = max(most, 12*int(rows.Load())-d.rows)
			d.let <- struct{}{}
		}
		if most > tracefile.PartBytes || most < tracefile.PartBytes-2*maxRow {
			t.Errorf("%d bytes may be lost", most)
		}
		close(d.let)
	})
}

// A gate is a file that takes a part when it is let.
type gate struct {
	let    chan struct{}
	header bool
	rows   int // bytes
}

func (g *gate) Write(part []byte) (int, error) {
	<-g.let
	if g.header {
		g.rows += len(part)
	}
	g.header = true
	return len(part), nil
}

// Close writes what there is, and nothing is recorded afterwards. It may come twice, and
// while calls wait.
func TestCloseIsTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		r := To(d, Options{})
		mark := r.Alloc(5)
		if err := errors.Join(r.Close(), r.Close()); err != nil {
			t.Error(err)
		}
		r.Free(mark, 5)
		r.Alloc(6)
		<-time.After(time.Minute)
		wantRows(t, d.rows(), "a,0,5")

		d = &disk{}
		r = To(d, Options{})
		d.stuck = make(chan struct{})
		r.next = firstID
		for range 2 * fullPart {
			go r.Alloc(1)
		}
		synctest.Wait()
		go r.Close()
		synctest.Wait()
		close(d.stuck)
		synctest.Wait()
		if n := len(d.rows()); n < fullPart {
			t.Errorf("%d rows", n)
		}
	})
}

type broken struct{ error }

func (b broken) Write([]byte) (int, error) { return 0, b.error }

// The first error of the disk is that of Close; what the program does goes on.
func TestCloseReportsTheFirstError(t *testing.T) {
	r := To(broken{io.ErrShortWrite}, Options{})
	r.next = firstID
	for range 3 * fullPart {
		r.Alloc(1)
	}
	for range 2 {
		if err := r.Close(); !errors.Is(err, io.ErrShortWrite) {
			t.Error(err)
		}
	}
}

// A bomb panics at all but the first Write, which has the header.
type bomb struct{ writes int }

func (b *bomb) Write(p []byte) (int, error) {
	if b.writes++; b.writes > 1 {
		panic("bomb")
	}
	return len(p), nil
}

// A panic of the disk passes through Close, and what comes after it waits for nothing.
func TestCloseWhereTheDiskPanics(t *testing.T) {
	r := To(&bomb{}, Options{})
	mark := r.Alloc(1)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	r.Free(mark, 1)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// Times count up from the beginning. A reading of the clock serves 64 events at most, and
// what comes after a flush has one of its own.
func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		r := To(d, Options{Times: true})
		for range clockEvents + 1 {
			r.Alloc(1)
			<-time.After(5 * time.Millisecond)
		}
		<-time.After(time.Second)
		r.Alloc(2)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		var times []string
		for _, row := range d.rows() {
			times = append(times, row[strings.LastIndex(row, ",")+1:])
		}
		wantRows(t, times, append(strings.Fields(strings.Repeat("0 ", clockEvents)), "320000000", "1325000000")...)
	})
}

// A size beyond what an event has room for is recorded as the largest, with the right site.
func TestSizesOfNoMemory(t *testing.T) {
	if strconv.IntSize == 32 {
		return // no int is as large
	}
	var b bytes.Buffer
	r := To(&b, Options{Site: func([]uintptr) string { return "here" }})
	for _, shift := range []int{48, 50, 62} {
		r.Free(r.Alloc(1<<shift), 1<<shift)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	const most = ",281474976710655,"
	if rows := b.String(); strings.Count(rows, most) != 6 || strings.Count(rows, ",here\n") != 3 {
		t.Error(rows)
	}
}

// A ring has the last events, and before them what was live then. It writes when it is
// asked to, and at Close.
func TestRing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	r, err := Last(3, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	last := func() []string {
		var b bytes.Buffer
		if err := r.WriteLast(&b); err != nil {
			t.Error(err)
		}
		return strings.Fields(b.String())
	}
	wantRows(t, last(), "op,id,size")
	a, b := r.Alloc(10), r.Alloc(20)
	wantRows(t, last(), "op,id,size", "a,0,10", "a,1,20")
	r.Free(r.Alloc(30), 30)
	r.Free(a, 10)
	wantRows(t, last(), "op,id,size", "a,0,10", "a,1,20", "a,2,30", "f,2,30", "f,0,10")
	for range 5 {
		r.Alloc(40)
	}
	r.Free(b, 20)
	rest := []string{"op,id,size", "a,1,20", "a,3,40", "a,4,40", "a,5,40", "a,6,40", "a,7,40", "f,1,20"}
	wantRows(t, last(), rest...)
	for range 5000 {
		r.Free(r.Alloc(1), 1)
	}
	if n := len(last()); n != 1+5+1+3 { // the last one's Alloc has left the ring
		t.Errorf("%d rows", n)
	}
	if text, err := os.ReadFile(path); len(text) > 0 || err != nil {
		t.Errorf("%q before Close, %v", text, err)
	}
	want := last()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	text, _ := os.ReadFile(path)
	wantRows(t, strings.Fields(string(text)), want...)
	wantRows(t, last(), want...)
	if err := To(io.Discard, Options{}).WriteLast(io.Discard); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}

// Sites name who called, once for a stack. What a CSV or a trace cannot hold is left out.
func TestSites(t *testing.T) {
	var b bytes.Buffer
	asked := 0
	r := To(&b, Options{Site: func(stack []uintptr) string {
		asked++
		f, _ := runtime.CallersFrames(stack[1:]).Next() // the first one is the pool's
		return strings.Repeat("x", 200) + "a,\"b\"\n" + f.Function[strings.LastIndex(f.Function, ".")+1:]
	}})
	pool := func() { r.Free(r.Alloc(1), 1) }
	for range 3 {
		pool()
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	rows := strings.Fields(b.String())
	key := strings.Split(rows[1], ",")[3]
	if rows[0] != "op,id,size,key" || len(rows) != 7 || len(key) != maxKey || !strings.HasSuffix(key, "xa__b__TestSites") || rows[2] != "f,0,1," {
		t.Error(rows)
	}
	if asked != 1 {
		t.Errorf("%d names were looked for", asked)
	}
}

// Whatever part of a compressed file was written last, all up to it can be read.
func TestEachPartIsAMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "x.csv.gz")
		r, err := Create(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := "op,id,size\n"
		for i := range 5 {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			z, err := gzip.NewReader(f)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(z); err != nil || string(text) != want {
				t.Errorf("%q, %v, want %q", text, err, want)
			}
			f.Close()
			r.Alloc(1)
			want += fmt.Sprintf("a,%d,1\n", i)
			<-time.After(time.Second)
			synctest.Wait()
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, err := r.parts.out.Write(nil); !errors.Is(err, os.ErrClosed) {
			t.Errorf("the file is open after Close: %v", err)
		}
	})
}

// From many goroutines the rows are still in order of ids, and each Free after its Alloc.
func TestConcurrentCalls(t *testing.T) {
	var b bytes.Buffer
	r := To(&b, Options{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 5000 {
				r.Free(r.Alloc(1), 1)
			}
		})
	}
	all.Wait()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	live, next := map[string]bool{}, 0
	for _, row := range strings.Fields(b.String())[1:] {
		switch id := row[1:]; {
		case row[0] == 'a' && id == fmt.Sprintf(",%d,1", next):
			live[id] = true
			next++
		case row[0] == 'f' && live[id]:
			delete(live, id)
		default:
			t.Fatalf("%s when the next id is %d", row, next)
		}
	}
	if next != 20_000 || len(live) > 0 {
		t.Errorf("%d allocations, %d live", next, len(live))
	}
}

// Nothing is allocated for an event.
func TestEventsAllocateNothing(t *testing.T) {
	r := To(io.Discard, Options{Times: true})
	if n := check.Allocs(1000, func() { r.Free(r.Alloc(100), 100) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// What was live when a ring begins has the size that it has grown to, and the place of its Alloc.
func TestRingOfGrows(t *testing.T) {
	r, _ := Last(2, "", Options{Site: func([]uintptr) string { return "x" }})
	m := r.Alloc(8)
	r.Grow(m, 80)
	r.Grow(0, 7) // no allocation of this recording
	r.Grow(m, 800)
	r.Alloc(1)
	r.Alloc(2)
	var b bytes.Buffer
	if err := r.WriteLast(&b); err != nil {
		t.Fatal(err)
	}
	wantRows(t, strings.Fields(b.String()), "op,id,size,key", "a,0,800,x", "a,1,1,x", "a,2,2,x")
	if err := r.Close(); err != nil { // which has no file
		t.Error(err)
	}
}

// A row has the columns that were asked for: a place where the program allocates or grows, and the processor. A
// name that a trace cannot have makes no row of the device.
func TestColumns(t *testing.T) {
	site := func([]uintptr) string { return "x" }
	long := strings.Repeat("d", maxDevice)
	for _, c := range []struct {
		o    Options
		rows string
	}{
		{Options{}, "op,id,size a,0,5 g,0,6 f,0,6 p,64,3"},
		{Options{Site: site}, "op,id,size,key a,0,5,x g,0,6,x f,0,6, p,64,3,"},
		{Options{Processors: true}, "op,id,size,thread a,0,5,P g,0,6,P f,0,6,P p,64,3,P"},
		{Options{Site: site, Processors: true, Device: "a,b"}, "op,id,size,key,thread d,a_b,,, a,0,5,x,P g,0,6,x,P f,0,6,,P p,64,3,,P"},
		{Options{Device: long}, "op,id,size d," + long + ", a,0,5 g,0,6 f,0,6 p,64,3"},
		{Options{Device: long + "d"}, "op,id,size a,0,5 g,0,6 f,0,6 p,64,3"},
	} {
		var got, want []string
		for range 1000 { // until the calls run on one processor
			var b bytes.Buffer
			r := To(&b, c.o)
			on := processor()
			mark := r.Alloc(5)
			r.Grow(mark, 6)
			r.Free(mark, 6)
			r.Promise(64, 3)
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			got, want = strings.Fields(b.String()), strings.Fields(strings.ReplaceAll(c.rows, "P", fmt.Sprint(on)))
			if slices.Equal(got, want) {
				break
			}
		}
		wantRows(t, got, want...)
	}
}

// A ring keeps what the pool promised, however many events came since, and takes no promise when it is closed.
func TestARingKeepsPromises(t *testing.T) {
	r, err := Last(2, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.Promise(64, 3)
	for i := range 5 {
		r.Alloc(i)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	r.Promise(128, 3)
	var b bytes.Buffer
	if err := r.WriteLast(&b); err != nil {
		t.Error(err)
	}
	wantRows(t, strings.Fields(b.String()), "op,id,size", "p,64,3", "a,0,0", "a,1,1", "a,2,2", "a,3,3", "a,4,4")
}

// Beyond the most stacks that are told apart a place is not known.
func TestSitesAreBounded(t *testing.T) {
	var b bytes.Buffer
	r := To(&b, Options{Site: func([]uintptr) string { return "x" }})
	r.Alloc(1)
	r.sites.names = append(make([]string, maxSites-2), "last")
	for range 2 {
		r.Alloc(2)
	}
	r.Alloc(3)
	if n := len(r.sites.names); n != maxSites {
		t.Errorf("%d places", n)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	wantRows(t, strings.Fields(b.String()), "op,id,size,key", "a,0,1,x", "a,1,2,x", "a,2,2,x", "a,3,3,")
}
