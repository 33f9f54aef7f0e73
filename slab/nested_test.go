package slab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// address is where a block begins in our memory.
func addressOf(t *testing.T, b device.Block) uintptr {
	t.Helper()
	m := device.Bytes(b)
	if m == nil {
		t.Fatal("no bytes")
	}
	return uintptr(unsafe.Pointer(unsafe.SliceData(m)))
}

// Every block of what promises alignment begins at a multiple of it.
func TestBlocksAreAligned(t *testing.T) {
	for _, dev := range []string{"heap", "mmap", "mmap:fixed"} {
		for _, s := range []string{"sizeclass", "bestfit", "slab"} {
			for _, align := range []int{0, 16, 64, 512, 4096} {
				d, err := device.Open(dev)
				if err != nil {
					t.Fatal(err)
				}
				a := newStrategy(d, Config{Device: dev, Strategy: s, Align: align}.withDefaults())
				r := rand.New(rand.NewPCG(1, uint64(align)))
				for range 400 {
					n := 1 + r.IntN(1<<r.IntN(18))
					b := mustAlloc(t, a, n)
					want := align
					if want == 0 {
						want = 16
						if s == "sizeclass" && n >= 64 {
							want = 64
						}
					}
					if p := addressOf(t, b); p%uintptr(want) != 0 {
						t.Fatalf("%s on %s, align %d: %d bytes at %x", s, dev, align, n, p)
					}
					if r.IntN(2) == 0 {
						a.Free(b)
					}
				}
			}
		}
	}
}

// nestings are strategies over strategies, the upper one first.
var nestings = [][2]string{
	{"exact", "slab"}, {"bestfit", "bestfit"}, {"sizeclass", "slab"}, {"slab", "slab"},
	{"slab", "sizeclass"}, {"bitlog", "bestfit"}, {"direct", "slab"}, {"slab", "direct"}, {"bestfit", "exact"},
}

func eachNesting(t *testing.T, f func(t *testing.T, upper, lower string)) {
	for _, n := range nestings {
		t.Run(n[0]+" over "+n[1], func(t *testing.T) { f(t, n[0], n[1]) })
	}
}

func named(up Allocator, name string) Allocator {
	return newStrategy(up, Config{Strategy: name}.withDefaults())
}

// stopAll makes both hold nothing, the upper one first.
func stopAll(a ...Allocator) {
	for _, s := range a {
		if h, ok := s.(Holder); ok {
			h.StopHolding()
		}
	}
}

func TestStrategiesNest(t *testing.T) {
	eachNesting(t, func(t *testing.T, upper, lower string) {
		for _, fixed := range []bool{false, true} {
			for _, capacity := range []int64{0, 300_000} {
				up := &pages{fake: fake{host: true, capacity: capacity}, rangeBytes: 512 << 10}
				var base Allocator = up
				if fixed {
					base = &up.fake
				}
				under := named(base, lower)
				over := named(under, upper)
				r := rand.New(rand.NewPCG(5, 5))
				live := map[device.Block]byte{}
				for step := range 3000 {
					if len(live) > 0 && r.IntN(2) == 0 {
						freeOne(t, over, live)
						continue
					}
					b, err := over.Alloc(1 + r.IntN(1<<r.IntN(15)))
					if err != nil {
						if capacity == 0 || !errors.Is(err, device.ErrOutOfMemory) {
							t.Fatal(err)
						}
						continue
					}
					live[b] = byte(step)
					paint(device.Bytes(b), byte(step))
					checkNested(t, over, under, up)
				}
				for len(live) > 0 {
					freeOne(t, over, live)
				}
				stopAll(over, under)
				if up.bytes != 0 || up.open != 0 {
					t.Errorf("%d bytes left", up.bytes)
				}
			}
		}
	})
}

func freeOne(t *testing.T, a Allocator, live map[device.Block]byte) {
	t.Helper()
	for b, mark := range live {
		for _, v := range device.Bytes(b) {
			if v != mark {
				t.Fatalf("somebody wrote %d to a block filled with %d", v, mark)
			}
		}
		delete(live, b)
		a.Free(b)
		return
	}
}

// What the upper one manages is what the lower one has out.
func checkNested(t *testing.T, over, under Allocator, up *pages) {
	t.Helper()
	o, u := over.(User).Usage(), under.(User).Usage()
	if o.ManagedBytes() != u.ActiveBytes || u.ManagedBytes() != up.bytes {
		t.Fatalf("%+v over %+v over %d bytes", o, u, up.bytes)
	}
}

func TestPoolsNest(t *testing.T) {
	eachNesting(t, func(t *testing.T, upper, lower string) {
		for _, dev := range []string{"heap", "mmap", "sim"} {
			d, err := device.Open(dev)
			if err != nil {
				t.Fatal(err)
			}
			under := named(d, lower)
			p, err := Open(under, Config{Strategy: upper})
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(5, 6))
			var live []PooledBuffer
			for range 2000 {
				if len(live) > 50 || len(live) > 0 && r.IntN(2) == 0 {
					if err := live[0].Release(); err != nil {
						t.Fatal(err)
					}
					live = live[1:]
				} else {
					live = append(live, mustGet(t, p, 1+r.IntN(1<<r.IntN(17))))
				}
			}
			for _, b := range live {
				b.Release()
			}
			checkQuiet(t, p)
			if err := p.Close(); err != nil || p.Stats().ManagedBytes != 0 {
				t.Errorf("%s: %v, %+v", dev, err, p.Stats())
			}
			stopAll(under)
			if u := under.(User).Usage(); u != (Usage{}) {
				t.Errorf("%s: %+v", dev, u)
			}
		}
	})
}

// No strategy says that there is no room while a free block of its own fits:
// sizes that were out before are there again, whichever order they come in.
func TestFreeBlocksServeWhereTheUpstreamIsFull(t *testing.T) {
	for _, name := range []string{"sizeclass", "bestfit", "slab"} {
		for _, fixed := range []bool{false, true} {
			up := &pages{fake: fake{capacity: 64 * page}, rangeBytes: 1 << 20}
			var base Allocator = up
			if fixed {
				base = &up.fake
			}
			s := named(base, name)
			var live []device.Block
			for { // full to the brim
				b, err := s.Alloc(600)
				if err != nil {
					break
				}
				live = append(live, b)
			}
			for i := 0; i < len(live); i += 2 {
				s.Free(live[i])
			}
			for n := 600; n > 0; n -= 50 { // each has one of 600 at least
				b, err := s.Alloc(n)
				if err != nil {
					t.Errorf("%s, fixed %v: %d bytes: %v with %+v", name, fixed, n, err, s.(User).Usage())
					break
				}
				s.Free(b)
			}
		}
	}
}

// Where nothing else is left, far too large a block serves.
func TestSizeclassLendsAnyBlockBeforeItFails(t *testing.T) {
	up := &fake{capacity: 1 << 20}
	s := NewSizeclass(up, Config{})
	s.Free(mustAlloc(t, s, 1<<20))
	b, err := s.Alloc(40 << 10)
	if err != nil {
		t.Fatal(err)
	}
	s.Free(b)
	if _, err := s.Alloc(100); err != nil {
		t.Error(err)
	}
}

func ExampleNewSlab_nested() {
	d, _ := device.Open("virtual")
	lower := NewSlab(d, Config{})
	upper := NewExact(lower, Config{})
	b, _ := upper.Alloc(100)
	upper.Free(b)
	fmt.Println(upper.Usage().HeldBytes, lower.Usage().ActiveBytes)
	// Output: 100 100
}
