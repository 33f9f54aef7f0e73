package slab

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// recorded returns the rows that a ring has after the one of the device, without processors and times.
func recorded(t *testing.T, p *Pool) (rows []string) {
	t.Helper()
	var b bytes.Buffer
	if err := p.WriteRecord(&b); err != nil {
		t.Fatal(err)
	}
	header, rest, _ := strings.Cut(b.String(), "\n")
	if !strings.HasSuffix(header, ",thread,time_ns") {
		t.Errorf("columns %s", header)
	}
	on, rest, _ := strings.Cut(rest, "\n")
	if want := "d," + deviceOf(p.pool.config.on).Name() + ",,"; !strings.HasPrefix(on, want) {
		t.Errorf("the first row is %q, want %q", on, want)
	}
	for row := range strings.Lines(rest) {
		row = row[:strings.LastIndex(row, ",")]
		rows = append(rows, row[:strings.LastIndex(row, ",")])
	}
	return rows
}

func wantRecorded(t *testing.T, p *Pool, want ...string) {
	t.Helper()
	if got := recorded(t, p); !slices.Equal(got, want) {
		t.Errorf("recorded %v, want %v", got, want)
	}
}

// Every way to get and to give back a buffer is recorded once, with the bytes that were asked
// for; what fails is not.
func TestPoolRecordsWhatIsAskedFor(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		c.RecordLast, c.MaxBytes = 100, 1<<20
		p := openPool(t, dev, c)
		b := mustGet(t, p, 1001)
		if _, err := p.Get(1 << 30); !outOfMemory(err) {
			t.Error(err)
		}
		if _, err := p.Get(-1); !errors.Is(err, ErrSize) {
			t.Error(err)
		}
		mustRelease(t, b)
		if err := b.Release(); err != ErrReleased {
			t.Error(err)
		}
		b = mustGet(t, p, 0)
		mustRelease(t, b)
		b = mustGet(t, p, 999)
		if err := b.With(func([]byte) { mustRelease(t, b) }); err != nil {
			t.Error(err)
		}
		want := []string{"a,0,1001", "f,0,1001", "a,1,0", "f,1,0", "a,2,999", "f,2,999"}
		if dev != "virtual" {
			if b, err := p.GetZeroed(500); err != nil || b.Release() != nil {
				t.Error(err)
			}
			want = append(want, "a,3,500", "f,3,500")
		}
		wantRecorded(t, p, want...)
		late := mustGet(t, p, 77)
		want = append(want, fmt.Sprintf("a,%d,77", len(want)/2))
		if err := p.Close(); err == nil {
			t.Error("a buffer is out, and Close says nothing")
		}
		mustRelease(t, late)
		wantRecorded(t, p, want...) // and nothing after Close
	})
}

// A pool that records has its caches.
func TestRecordedPairsAreHits(t *testing.T) {
	p := openPool(t, "heap", Config{RecordLast: 10})
	for range 1000 {
		mustRelease(t, mustGet(t, p, 4096))
	}
	if s := p.Stats(); s.Hits < 900 {
		t.Errorf("%+v", s)
	}
	n := check.Allocs(1000, func() { _ = mustGet(t, p, 4096).Release() })
	if n != 0 && !raceEnabled { // there package pin draws a number, and allocates
		t.Errorf("%v allocations a pair", n)
	}
}

// A buffer that streams use is recorded as freed when it is released, one that is forgotten
// when that is found.
func TestRecordOfStreamsAndOfTheForgotten(t *testing.T) {
	p := openPool(t, "mmap", Config{RecordLast: 10})
	q := &queue{}
	b, err := p.GetOn(5000, q)
	if err != nil {
		t.Fatal(err)
	}
	mustRelease(t, b)
	mustGetOn(t, p, 6000, q)
	wantRecorded(t, p, "a,0,5000", "f,0,5000", "a,1,6000")
	q.Finish()
	eventually(t, "it is found", func() bool { cycle(); return p.Stats().Forgotten == 1 })
	wantRecorded(t, p, "a,0,5000", "f,0,5000", "a,1,6000", "f,1,6000")
}

// A buffer that has grown is recorded when it is released, also into a cache with room.
func TestReleasesOfTheGrownAreRecorded(t *testing.T) {
	for _, grow := range []int{1001, 9000, 1 << 20} {
		p := openPool(t, "mmap", Config{Strategy: "bestfit", RecordLast: 1000})
		for range 50 {
			room := mustGet(t, p, grow) // in the cache, for the ones to be released
			more := mustGet(t, p, grow)
			b, c := mustGet(t, p, 1000), mustGet(t, p, 1000)
			mustRelease(t, mustGrow(t, b, grow)) // past c
			mustRelease(t, mustGrow(t, c, grow)) // where it is
			releaseAll(t, []PooledBuffer{room, more})
		}
		rows := recorded(t, p)
		frees := slices.DeleteFunc(slices.Clone(rows), func(row string) bool { return row[0] != 'f' })
		if len(rows) != 500 || len(frees) != 200 {
			t.Errorf("%d rows, %d of them frees", len(rows), len(frees))
		}
	}
}

// With record_sites the key of an allocation is the line of its Get, that of a grow the line of its Grow.
func TestRecordSites(t *testing.T) {
	p := openPool(t, "mmap", Config{Strategy: "bestfit", RecordLast: 10, RecordSites: true})
	_, file, line, _ := runtime.Caller(0)
	b := mustGrow(t, mustGet(t, p, 1000), 9000) // both lines are of support_test.go
	c, _ := p.GetZeroed(5)
	releaseAll(t, []PooledBuffer{b, c})
	rows := recorded(t, p)
	site := file[max(0, len(file)+1+len(fmt.Sprint(line+2))-200):]
	if len(rows) != 5 || rows[2] != fmt.Sprintf("a,1,5,%s:%d", site, line+2) || !strings.HasPrefix(rows[1], "g,0,9000,") || rows[3] != "f,0,9000," || !strings.Contains(rows[0], "support_test.go:") || !strings.Contains(rows[1], "grow_test.go:") {
		t.Error(rows)
	}
}

// A recording beside check has what the program asked for, too, and both come to their end.
func TestRecordBesideCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	p := openPool(t, "heap", Config{Check: true, Record: path, RecordLast: 5})
	mustRelease(t, mustGet(t, p, 1000))
	wantRecorded(t, p, "a,0,1000", "f,0,1000")
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); err != nil || strings.Count(string(text), "\n") != 4 {
		t.Errorf("%q, %v", text, err)
	}
}

func TestWriteRecordNeedsARing(t *testing.T) {
	for _, c := range []Config{{}, {Record: filepath.Join(t.TempDir(), "x.csv")}} {
		if err := openPool(t, "heap", c).WriteRecord(&bytes.Buffer{}); !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
	}
}

// One event is enough to remember.
func TestTheLastEventIsRecorded(t *testing.T) {
	p := openPool(t, "heap", Config{RecordLast: 1})
	b := mustGet(t, p, 1001)
	wantRecorded(t, p, "a,0,1001")
	mustRelease(t, b)
}

// Options of a recording are of no use without one.
func TestRecordOptionsNeedARecording(t *testing.T) {
	for _, c := range []Config{{RecordSites: true}} {
		var e *ConfigError
		if err := c.Validate(); !errors.As(err, &e) || !strings.Contains(err.Error(), "nothing is recorded without record or record_last") {
			t.Errorf("%s: %v", c, err)
		}
		c.RecordLast = 1
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// Where the recording cannot be created, Open returns the error.
func TestOpenSaysThatThereIsNoRecording(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", "x.csv")
	d, _ := device.Open("heap")
	for _, last := range []int{0, 5} {
		if _, err := Open(d, Config{Record: path, RecordLast: last}); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	}
}
