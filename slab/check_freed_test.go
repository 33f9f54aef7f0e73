package slab

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// keepers are the strategies that keep released memory.
func keepers() []string { return Strategies()[1:] }

// eachKeeper runs f on a checked pool of each strategy that keeps memory, on each device
// whose memory can be read.
func eachKeeper(t *testing.T, f func(t *testing.T, p *Pool)) {
	for _, dev := range []string{"heap", "mmap", "mmap:fixed"} {
		for _, s := range keepers() {
			t.Run(dev+","+s, func(t *testing.T) { f(t, openPool(t, dev, Config{Strategy: s, Check: true})) })
		}
	}
}

// written releases a buffer and writes to it afterwards.
func written(t *testing.T, p *Pool, size, at int) {
	t.Helper()
	b, err := p.Get(size)
	if err != nil {
		t.Fatal(err)
	}
	m := b.Bytes()
	if err := b.Release(); err != nil {
		t.Fatal(err)
	}
	m[at] = 1
}

// wantWritten fails unless text names the write of written.
func wantWritten(t *testing.T, text string, size, at int) {
	t.Helper()
	want := fmt.Sprintf("slab: something wrote at offset %d of a block of %d bytes while it was free: allocated at ", at, size)
	_, sites, ok := strings.Cut(text, want)
	if got, came, _ := strings.Cut(sites, ", released at "); !ok || !strings.Contains(got, "check_freed_test.go:") || !strings.Contains(came, "check_freed_test.go:") {
		t.Errorf("%s", text)
	}
}

// untilPanic gets buffers until Get panics, and returns the text.
func untilPanic(t *testing.T, p *Pool, size int) (text string) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	for range 200 {
		mustGet(t, p, size)
	}
	return "no panic"
}

// A write after Release is found when the block is handed out again.
func TestCheckFindsAWriteAfterReleaseInGet(t *testing.T) {
	eachKeeper(t, func(t *testing.T, p *Pool) {
		onOneProcessor(t, p) // on another one a block may be cut from the other end of the written one
		for _, size := range []int{100, 50_000} {
			written(t, p, size, 7)
			wantWritten(t, untilPanic(t, p, size), size, 7)
			checkQuiet(t, p)
			mustRelease(t, mustGet(t, p, size))
		}
	})
}

// It is found where strategies cut the block, and where they merge it with others.
func TestCheckFindsAWriteAfterReleaseInPartsOfBlocks(t *testing.T) {
	for _, s := range []string{"bestfit", "slab"} {
		p := openPool(t, "mmap", Config{Strategy: s, Check: true})
		written(t, p, 50_000, 20_000)
		wantWritten(t, untilPanic(t, p, 2000), 50_000, 20_000)

		p = openPool(t, "mmap", Config{Strategy: s, Check: true})
		others := []PooledBuffer{mustGet(t, p, 20_000), mustGet(t, p, 20_000)}
		written(t, p, 20_000, 0)
		releaseAll(t, others)
		wantWritten(t, untilPanic(t, p, 50_000), 20_000, 0)
	}
}

// It is found when the memory goes upstream, and then Close says so.
func TestCheckFindsAWriteAfterReleaseWhenMemoryIsGivenBack(t *testing.T) {
	for name, back := range map[string]func(*Pool){
		"FreeHeld": (*Pool).FreeHeld, "StopHolding": (*Pool).StopHolding, "Trim": func(p *Pool) { p.Trim(0) }, "Close": func(*Pool) {},
	} {
		t.Run(name, func(t *testing.T) {
			eachKeeper(t, func(t *testing.T, p *Pool) {
				written(t, p, 50_000, 49_999)
				back(p)
				f := faultsOf(p)
				if len(f) != 1 {
					t.Fatalf("%q", f)
				}
				wantWritten(t, f[0], 50_000, 49_999)
			})
		})
	}
}

// Pages that go back while others of their range stay are looked at first.
func TestCheckFindsAWriteAfterReleaseInPagesThatAreGivenBack(t *testing.T) {
	p := openPool(t, "mmap", Config{Strategy: "bestfit", Check: true})
	low := mustGet(t, p, 200_000)
	high := mustGet(t, p, 1000)
	m := low.Bytes()
	mustRelease(t, low)
	m[100_000] = 1
	p.FreeHeld()
	mustRelease(t, high)
	if f := faultsOf(p); len(f) != 1 || !strings.Contains(f[0], "at offset 100000 of a block of 200000 bytes") {
		t.Errorf("%q", f)
	}
}

// A scribbler is a user's allocator that keeps links in its free blocks.
type scribbler struct {
	source
	free []device.Block
}

func (s *scribbler) Alloc(size int) (device.Block, error) {
	if i := slices.IndexFunc(s.free, func(b device.Block) bool { return b.Len == size }); i >= 0 {
		return takeAt(&s.free, i), nil
	}
	return s.source.Alloc(size)
}

func (s *scribbler) Free(b device.Block) {
	device.Fill(device.Bytes(b)[:8], byte(len(s.free)))
	s.free = append(s.free, b)
}

// Check reports nothing of a program that keeps to the rules, though strategies cut,
// merge, decommit and go upstream, and the upstream writes into what it was given back.
func TestCheckReportsNothingOfAGoodProgram(t *testing.T) {
	for _, up := range []string{"heap", "mmap", "mmap:fixed", "scribbler"} {
		for _, c := range []Config{
			{Strategy: "direct"}, {Strategy: "exact"}, {Strategy: "bitlog"}, {Strategy: "sizeclass"}, {Strategy: "bestfit"}, {Strategy: "slab"},
			{Strategy: "slab", MissTarget: 0.5}, {Strategy: "slab", MaxHeld: 200_000}, {Strategy: "sizeclass", MaxHeld: 200_000},
		} {
			c.Check = true
			on := Allocator(&scribbler{source: source{Host: true}})
			if up != "scribbler" {
				on = openDevice(t, up)
			}
			p := mustOpen(t, on, c)
			r := rand.New(rand.NewPCG(10, 1))
			var live []PooledBuffer
			for i := range long(t, 150) {
				if len(live) > 40 || len(live) > 0 && r.IntN(2) == 0 {
					mustRelease(t, takeAt(&live, r.IntN(len(live))))
				} else {
					b := mustGet(t, p, 1+r.IntN(1<<r.IntN(18)))
					device.Fill(b.Bytes(), byte(i))
					live = append(live, b)
				}
				if i%100 == 99 {
					p.Trim(i % 2)
				}
			}
			releaseAll(t, live)
			if f := faultsOf(p); len(f) != 0 {
				t.Fatalf("%s on %s: %s", c.String(), up, f[0])
			}
		}
	}
}

// With check a block goes out of use for good with its canaries, where the strategy can do so.
func TestCheckedBlocksAreQuarantined(t *testing.T) {
	register(t, "plain", func(up Allocator, _ Config) Allocator { return counting{up, new(int)} })
	for _, s := range Strategies() {
		for _, size := range []int{100, 100_000} {
			p := openPool(t, "mmap", Config{Strategy: s, Check: true})
			b, extent, err := p.pool.blocks.AllocExtent(size)
			check.Must(t, err)
			gone := p.pool.giveUp(b, extent)
			if u := usageOf(p.pool.strategy, 0); gone == (s == "plain") || gone == (u.ActiveBytes > 0) {
				t.Errorf("%s, %d bytes: gone is %v, %+v", s, size, gone, u)
			}
		}
	}
}
