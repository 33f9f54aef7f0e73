package adapt_test

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/adapt"
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// lines are pools that every adapter works on.
var lines = []string{
	"", "device=mmap", "strategy=slab", "align=16", "strategy=direct", "strategy=exact", "strategy=bitlog", "strategy=bestfit",
	"device=mmap,strategy=sizeclass", "device=mmap,strategy=bestfit", "check=true,align=64", "strict=true", "zero=true", "max_held=0",
}

// open is OpenConfig of a line where nothing can be wrong.
func open(t testing.TB, line string) *slab.Pool {
	t.Helper()
	c, err := slab.ParseConfig(line)
	if err != nil {
		t.Fatal(err)
	}
	p, err := slab.OpenConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A user is an adapter as its library calls it.
type user struct {
	name string
	open func(*slab.Pool) (get func(int) []byte, put func([]byte), made func() int64)
}

const size = 40_000 // of HTTP's buffers

var users = []user{
	{"Arrow", func(p *slab.Pool) (func(int) []byte, func([]byte), func() int64) {
		a := adapt.Arrow(p)
		return a.Allocate, a.Free, nil
	}},
	{"GRPC", func(p *slab.Pool) (func(int) []byte, func([]byte), func() int64) {
		g := adapt.GRPC(p)
		return func(n int) []byte { return *g.Get(n) }, func(b []byte) { g.Put(&b) }, g.Made
	}},
	{"HTTP", func(p *slab.Pool) (func(int) []byte, func([]byte), func() int64) {
		h := adapt.HTTP(p, size)
		return func(int) []byte { return h.Get() }, h.Put, h.Made
	}},
}

// panics returns what f panics with.
func panics(t *testing.T, f func()) (with any) {
	t.Helper()
	defer func() {
		if with = recover(); with == nil {
			t.Error("no panic")
		}
	}()
	f()
	return nil
}

// even fails unless a pool has nothing out and nothing was refused.
func even(t *testing.T, what string, p *slab.Pool) {
	t.Helper()
	if s := p.Stats(); s.ActiveBlocks+s.OverflowBlocks != 0 || s.ForeignPuts != 0 || s.DoubleReleases != 0 {
		t.Errorf("%s: %+v", what, s)
	}
}

func TestGetsEqualPuts(t *testing.T) {
	for _, line := range lines {
		for _, u := range users {
			p := open(t, line)
			get, put, made := u.open(p)
			for _, n := range []int{1, 63, 64, 65, 1000, size, 1 << 20} {
				b := get(n)
				if len(b) != n && len(b) != size {
					t.Errorf("%s, %s: %d bytes of %d", u.name, line, len(b), n)
				}
				b[0], b[len(b)-1] = 1, 2
				put(b[:len(b)/2])
			}
			if made != nil && made() != 0 {
				t.Errorf("%s, %s: %d made", u.name, line, made())
			}
			even(t, u.name+" "+line, p)
		}
	}
}

func TestAdaptersAreSafeForConcurrentUse(t *testing.T) {
	for _, line := range []string{"", "device=mmap"} {
		p := open(t, line)
		var all sync.WaitGroup
		for _, u := range users {
			get, put, _ := u.open(p) // they share a pool
			out := make(chan []byte, 8)
			for i := range byte(2) {
				all.Go(func() {
					for range 2_000 {
						b := get(5_000)
						b[0], b[4_999] = i, i
						runtime.Gosched()
						if b[0] != i || b[4_999] != i {
							t.Errorf("%s, %s: the buffer has another user", u.name, line)
						}
						out <- b
						put(<-out)
					}
				})
			}
		}
		all.Wait()
		even(t, line, p)
	}
}

func TestForeignSlicesAreRefusedAndCounted(t *testing.T) {
	for _, u := range users {
		p := open(t, "")
		get, put, _ := u.open(p)
		b := get(1000)
		put(b[1:])
		put(make([]byte, 1000))
		put(b)
		put(b) // twice
		if s := p.Stats(); s.ForeignPuts != 3 || s.ActiveBlocks != 0 {
			t.Errorf("%s: %+v", u.name, s)
		}
	}
}

func TestForeignSlicesPanicWithStrict(t *testing.T) {
	for _, u := range users {
		_, put, _ := u.open(open(t, "strict=true"))
		if text, _ := panics(t, func() { put(make([]byte, 10)) }).(string); !strings.Contains(text, "adapt_test.go") {
			t.Errorf("%s: %q", u.name, text)
		}
	}
}

// On the Go heap what is forgotten comes back beside what is used.
func TestForgottenBuffersComeBack(t *testing.T) {
	for _, u := range users {
		p := open(t, "")
		get, put, _ := u.open(p)
		used := get(size)
		used[0], used[size-1] = 1, 2
		for range 100 {
			get(size)
			put(get(size)) // beside it
		}
		for i := 0; p.Stats().Forgotten < 99; i++ { // the stack may show one
			if i == 1000 {
				t.Fatalf("%s: %+v", u.name, p.Stats())
			}
			runtime.GC()
			runtime.Gosched()
		}
		for range 100 {
			clear(get(size)) // what has come back
		}
		if used[0] != 1 || used[size-1] != 2 {
			t.Errorf("%s: a buffer that is used has come back", u.name)
		}
		put(used)
	}
}

// Off the heap the pool cannot see whether a slice is used: it stays out, and whole.
func TestSlicesOffTheHeapStayOut(t *testing.T) {
	for _, u := range users {
		p := open(t, "device=mmap")
		get, put, _ := u.open(p)
		b := get(size)
		for i := range b {
			b[i] = byte(i)
		}
		for range 3 {
			runtime.GC()
		}
		for i := range b {
			if b[i] != byte(i) {
				t.Fatalf("%s: byte %d is %d", u.name, i, b[i])
			}
		}
		put(b)
		even(t, u.name, p)
	}
}

func TestLeaksNameTheCaller(t *testing.T) {
	for _, u := range users {
		p := open(t, "on_forget=report")
		get, _, _ := u.open(p)
		b := get(1000)
		if l := p.Leaks(); len(l) != 1 || !strings.Contains(l[0].Site, "adapt_test.go") {
			t.Errorf("%s: %v", u.name, l)
		}
		runtime.KeepAlive(b)
	}
}

func TestConstructorsRefuseDeviceMemory(t *testing.T) {
	for _, u := range users {
		p := open(t, "device=sim:1MiB")
		if err, _ := panics(t, func() { u.open(p) }).(error); !errors.Is(err, device.ErrUnavailable) {
			t.Errorf("%s: %v", u.name, err)
		}
		even(t, u.name, p)
	}
}

// Servers go on where the pool has no room, or is closed; what is out may be put.
func TestServersGetMadeBuffers(t *testing.T) {
	for _, u := range users[1:] {
		p := open(t, "max_bytes=1MiB,strict=true")
		get, put, made := u.open(p)
		var out [][]byte
		for range 40 {
			out = append(out, get(size))
		}
		n := made()
		if s := p.Stats(); n < 10 || n > 20 || s.ActiveBlocks != 40-n || s.OverflowBlocks != n || s.OverflowBytes != n*size {
			t.Errorf("%s: %d made, %+v", u.name, n, s)
		}
		_ = p.Close()
		if b := get(size); len(b) != size || made() != n+1 {
			t.Errorf("%s: %d bytes, %d made after Close", u.name, len(b), made())
		}
		for _, b := range out {
			put(b)
		}
		even(t, u.name, p)
	}
}

// The first buffer that was made is as little a mistake of the caller as those after it.
func TestAMadeBufferIsPutLikeOthers(t *testing.T) {
	for _, u := range users[1:] {
		p := open(t, "strict=true")
		get, put, made := u.open(p)
		_ = p.Close()
		if put(get(size)); made() != 1 {
			t.Errorf("%s: %d made", u.name, made())
		}
		even(t, u.name, p)
	}
}

func TestGRPCPointers(t *testing.T) {
	p := open(t, "")
	g := adapt.GRPC(p)
	b := g.Get(2000)
	again := *b
	*b = (*b)[:10]
	g.Put(b)
	if *b != nil {
		t.Error("the pointer still shows the buffer")
	}
	g.Put(b)
	other := again
	g.Put(&other)
	if s := p.Stats(); s.ForeignPuts != 2 || s.ActiveBlocks != 0 {
		t.Errorf("%+v", s)
	}
	empty := g.Get(0)
	if empty == nil || len(*empty) != 0 {
		t.Error("size 0")
	}
	g.Put(empty)
	if s := p.Stats(); s.ForeignPuts != 2 || s.ActiveBlocks != 0 {
		t.Errorf("%+v", s)
	}
	panics(t, func() { g.Get(-1) }) // nothing was made
	foreign := make([]byte, 10)
	if g.Put(&foreign); g.Made() != 0 || p.Stats().ForeignPuts != 3 {
		t.Errorf("%d made, %+v", g.Made(), p.Stats())
	}
}

// A pointer that was put twice is not handed out twice.
func TestGRPCPointersHaveOneUser(t *testing.T) {
	g := adapt.GRPC(open(t, ""))
	for range 100 {
		b := g.Get(2000)
		g.Put(b)
		g.Put(b)
		if c, d := g.Get(2000), g.Get(2000); c == d {
			t.Fatal("two users have one pointer")
		}
	}
}

func TestHTTPNeedsASize(t *testing.T) {
	if b := adapt.HTTP(open(t, ""), 1).Get(); len(b) != 1 {
		t.Errorf("%d bytes", len(b))
	}
	panics(t, func() { adapt.HTTP(open(t, ""), 0) })
}

func TestPairsAllocateNothing(t *testing.T) {
	p := open(t, "")
	a, g, h := adapt.Arrow(p), adapt.GRPC(p), adapt.HTTP(p, 4096)
	for what, pair := range map[string]func(){
		"Arrow": func() { a.Free(a.Allocate(4096)) },
		"GRPC":  func() { g.Put(g.Get(4096)) },
		"HTTP":  func() { h.Put(h.Get()) },
	} {
		if n := check.Allocs(1000, pair); n >= 1 && !instrumented {
			t.Errorf("%s: %v allocations", what, n)
		}
	}
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
