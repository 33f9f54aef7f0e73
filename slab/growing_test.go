package slab

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// A lineLog keeps what is logged. It is safe for concurrent use.
type lineLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lineLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// warnings returns how many lines say that slices are lost, and all of them.
func (l *lineLog) warnings() (int, string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), "level=WARN"), l.text.String()
}

func openLogged(t testing.TB, line string) (*Pool, *lineLog) {
	t.Helper()
	c, err := ParseConfig(line)
	if err != nil {
		t.Fatal(err)
	}
	l := new(lineLog)
	c.Logger = slog.New(slog.NewTextHandler(l, nil))
	p, err := OpenConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, l
}

func mustGetBytes(t testing.TB, p *Pool, n int) []byte {
	b, err := p.GetBytes(n)
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
	return b
}

const manyCollections = 400

// A pool off the heap whose slices are forgotten says so once, with bytes and blocks, and how to find the place, or the
// place itself where that is kept or sampled. It goes on to lose them.
func TestLostSlicesAreToldOnce(t *testing.T) {
	for line, want := range map[string]string{
		"device=mmap":                                "With profile_rate=512KiB, or on_forget=report",
		"device=mmap,strategy=sizeclass":             "With profile_rate=512KiB, or on_forget=report",
		"device=mmap:fixed,cache_bytes=0":            "With profile_rate=512KiB, or on_forget=report",
		"device=mmap,profile_rate=1":                 "growing_test.go:",
		"device=mmap,strategy=bestfit,check=true":    "growing_test.go:",
		"device=mmap,strategy=exact,profile_rate=1B": "growing_test.go:",
	} {
		line = strings.TrimSuffix(line, "B")
		p, l := openLogged(t, line)
		lost := [][]byte{mustGetBytes(t, p, 100<<10)} // kept for the end: until then the pool sees no difference
		for range 3 * manyCollections {
			lost = append(lost, mustGetBytes(t, p, 6000))
			if err := p.Put(mustGetBytes(t, p, 6000)); err != nil {
				t.Fatal(err)
			}
			p.pool.noticeGrowth()
		}
		n, text := l.warnings()
		if n != 1 || !strings.Contains(text, "blocks of GetBytes were not put back") || !strings.Contains(text, want) {
			t.Errorf("%s: %d warnings: %s", line, n, text)
		}
		for _, b := range lost { // else each collection of later tests finds them again
			check.Must(t, p.Put(b))
		}
	}
}

// The collector's own calls do so, too.
func TestCollectionsNoticeLostSlices(t *testing.T) {
	p, l := openLogged(t, "device=mmap")
	for range 250 { // nearly long enough
		mustGetBytes(t, p, 6000)
		p.pool.noticeGrowth()
	}
	eventually(t, "the pool warns", func() bool {
		mustGetBytes(t, p, 60_000)
		cycle()
		n, _ := l.warnings()
		return n == 1
	})
}

// Nothing is said of a pool that holds much, but no more and more of it; of buffers whose handle is kept, which the
// collector finds; and of the Go heap, where it finds slices.
func TestWhatIsNotLostIsNotTold(t *testing.T) {
	type program func(t *testing.T, p *Pool, i int)
	var held [][]byte
	give := func(t *testing.T, p *Pool) {
		for _, b := range held {
			if err := p.Put(b); err != nil {
				t.Fatal(err)
			}
		}
		held = nil
	}
	take := func(t *testing.T, p *Pool) { held = append(held, mustGetBytes(t, p, 20_000)) }
	var handles []PooledBuffer
	for name, c := range map[string]struct {
		line string
		f    program
	}{
		"much, steady": {"device=mmap", func(t *testing.T, p *Pool, i int) {
			if i < 200 {
				take(t, p)
			}
		}},
		"in turns": {"device=mmap", func(t *testing.T, p *Pool, i int) {
			if take(t, p); i%150 == 0 {
				give(t, p)
			}
		}},
		"by handle": {"device=mmap", func(t *testing.T, p *Pool, i int) {
			handles = append(handles, mustGet(t, p, 20_000))
			if err := p.Put(mustGetBytes(t, p, 20_000)); err != nil {
				t.Fatal(err)
			}
		}},
		"mostly by handle": {"device=mmap", func(t *testing.T, p *Pool, i int) {
			handles = append(handles, mustGet(t, p, 20_000))
			mustGetBytes(t, p, 10_000)
		}},
		"heap": {"device=heap", func(t *testing.T, p *Pool, i int) { take(t, p) }},
	} {
		p, l := openLogged(t, c.line)
		for i := range 2 * manyCollections {
			c.f(t, p, i)
			p.pool.noticeGrowth()
		}
		if n, text := l.warnings(); n != 0 {
			t.Errorf("%s: %s", name, text)
		}
		give(t, p)
		for _, b := range handles {
			b.discard()
		}
		handles = nil
	}
}
