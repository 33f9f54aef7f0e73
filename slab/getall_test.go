package slab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// All buffers come, in the order of the sizes, or none and an error.
func TestGetAll(t *testing.T) {
	eachBounded(t, "4MiB", func(t *testing.T, p *Pool) {
		sizes := []int{100, 1 << 20, 0, 5000, 100}
		list := check.Ok(p.GetAll(t.Context(), sizes...))(t)
		for i, b := range list {
			if b.Len() != sizes[i] {
				t.Errorf("buffer %d has %d bytes, not %d", i, b.Len(), sizes[i])
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		var wait *WaitError
		if got, err := p.GetAll(ctx, 3<<20, 1<<20); got != nil || !errors.As(err, &wait) || wait.Size != 4<<20 {
			t.Errorf("4 MiB beside 1 of 4: %d buffers, %v", len(got), err)
		}
		releaseAll(t, list)
		if got, err := p.GetAll(ctx, 1<<20, 1<<20); got != nil || !errors.As(err, &wait) || wait.Err != nil {
			t.Errorf("ctx is done, and there is room: %d buffers, %v", len(got), err)
		}
		var limit *LimitError
		if got, err := p.GetAll(t.Context(), 3<<20, 1<<20, 1); got != nil || !errors.As(err, &limit) {
			t.Errorf("more than the bound: %d buffers, %v", len(got), err)
		}
		checkNoneOut(t, p)
	})
}

// Bad sizes fail before anything is taken.
func TestGetAllRefuses(t *testing.T) {
	p := openLine(t, "device=mmap,max_bytes=1MiB")
	for _, sizes := range [][]int{{-1}, {10, -1, 10}, {math.MinInt, math.MaxInt}} {
		if got, err := p.GetAll(t.Context(), sizes...); got != nil || !errors.Is(err, ErrSize) {
			t.Errorf("%d: %d buffers, %v", sizes, len(got), err)
		}
	}
	if _, err := p.GetAll(t.Context(), 10, -1, 10); !strings.Contains(err.Error(), "GetAll of -1 bytes, size 2 of 3") {
		t.Error(err)
	}
	if got, err := p.GetAll(t.Context(), math.MaxInt, math.MaxInt); got != nil || !errors.Is(err, device.ErrOutOfMemory) {
		t.Errorf("%d buffers, %v", len(got), err)
	}
	if got, err := p.GetAll(t.Context()); got != nil || err != nil {
		t.Errorf("no sizes: %d buffers, %v", len(got), err)
	}
	if s := p.Stats(); s.Hits+s.Misses != 0 {
		t.Errorf("%d hits, %d misses", s.Hits, s.Misses)
	}
	check.Must(t, p.Close())
	for _, q := range []*Pool{p, new(Pool)} {
		if got, err := q.GetAll(t.Context(), 10, 10); got != nil || !errors.Is(err, ErrClosed) {
			t.Errorf("%d buffers, %v", len(got), err)
		}
	}
}

// Nothing is there at once, whatever ctx says and though others wait. A nil ctx is never done, and one that is done gives
// not a byte.
func TestGetAllOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openLine(t, "device=mmap,max_bytes=64KiB,strategy=direct")
		over, cancel := context.WithCancel(t.Context())
		cancel()
		var none context.Context
		var wait *WaitError
		if got, err := p.GetAll(over, 1); got != nil || !errors.As(err, &wait) {
			t.Errorf("a byte where ctx is done: %d buffers, %v", len(got), err)
		}
		releaseAll(t, check.Ok(p.GetAll(none, 10, 20))(t))
		out := mustGet(t, p, 64<<10)
		c := getLater(t, t.Context(), p, 100)
		for _, ctx := range []context.Context{over, none, t.Context()} {
			if got, err := p.GetAll(ctx, 0, 0); len(got) != 2 || err != nil {
				t.Errorf("%d buffers of 0 bytes, %v", len(got), err)
			}
		}
		mustRelease(t, out)
		mustRelease(t, mustHave(t, c))
		p.Close()
	})
}

// A GetAll that waits keeps nothing, and is served when all of it fits: by releases, by a bound that grows, by what a
// keeper offers.
func TestGetAllWaits(t *testing.T) {
	type change func(t *testing.T, p *Pool, l *Limit, out []PooledBuffer) (rest []PooledBuffer)
	for name, free := range map[string]change{
		"releases": func(t *testing.T, p *Pool, l *Limit, out []PooledBuffer) []PooledBuffer {
			for _, b := range out[:2] {
				synctest.Wait()
				if n := p.Stats().ActiveBlocks; n < 2 || n > 4 {
					t.Errorf("%d are out while it waits", n)
				}
				mustRelease(t, b)
			}
			return out[2:]
		},
		"a larger bound": func(t *testing.T, p *Pool, l *Limit, out []PooledBuffer) []PooledBuffer {
			check.Must(t, l.SetMax(6<<20))
			return out
		},
		"a keeper": func(t *testing.T, p *Pool, l *Limit, out []PooledBuffer) []PooledBuffer {
			k := &keeper{out[2:]}
			p.AddReclaimer(k)
			defer p.RemoveReclaimer(k)
			p.Offer()
			synctest.Wait()
			return out[:2]
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := NewLimit(&source{}, 4<<20)
				p := mustOpen(t, l, Config{Strategy: "exact", TrimAfter: -1})
				var out []PooledBuffer
				for range 4 {
					out = append(out, mustGet(t, p, 1<<20))
				}
				done := make(chan []PooledBuffer)
				go func() { done <- check.Ok(p.GetAll(context.Background(), 1<<20, 1<<20))(t) }()
				synctest.Wait()
				if s := p.Stats(); s.ActiveBlocks != 4 || s.Waiters != 1 {
					t.Errorf("%d are out, %d wait", s.ActiveBlocks, s.Waiters)
				}
				rest := free(t, p, l, out)
				releaseAll(t, <-done)
				releaseAll(t, rest)
				checkNobodyWaits(t, p)
				p.Close()
			})
		})
	}
}

// A GetAll whose sum fits, but not what it rounds up to, fails where nothing is out that could come back, and does not
// try for ever.
func TestGetAllThatFitsNowhere(t *testing.T) {
	for _, line := range []string{"idle=keep", "device=mmap,idle=keep", "device=mmap,strategy=sizeclass,idle=keep", "device=mmap,strategy=direct"} {
		synctest.Test(t, func(t *testing.T) {
			p := openLine(t, line+",max_bytes=1MiB")
			sizes := make([]int, 120)
			for i := range sizes {
				sizes[i] = 1 << 20 / len(sizes)
			}
			got, err := p.GetAll(context.Background(), sizes...)
			if err == nil {
				releaseAll(t, got)
			} else if !errors.Is(err, device.ErrOutOfMemory) {
				t.Errorf("%s: %v", line, err)
			}
			checkNoneOut(t, p)
			p.Close()
		})
	}
}

// A Get takes one of two free blocks while a GetAll waits, and then the block between them comes back: no more is free
// than when the GetAll tried last, but now it lies in one piece.
func TestGetAllFindsWhatBecomesOnePiece(t *testing.T) {
	for _, line := range []string{"device=heap,strategy=bestfit", "device=mmap", "device=mmap:fixed,strategy=bestfit", "device=sim"} {
		synctest.Test(t, func(t *testing.T) {
			p := openLine(t, line+",max_bytes=64KiB")
			var out []PooledBuffer
			for b, err := p.Get(1 << 10); err == nil; b, err = p.Get(1 << 10) {
				out = append(out, b)
			}
			mustRelease(t, out[1])
			mustRelease(t, out[3])
			var got []PooledBuffer
			var all sync.WaitGroup
			all.Go(func() { got, _ = p.GetAll(t.Context(), 2<<10) })
			synctest.Wait()
			out[1] = mustGet(t, p, 1<<10)
			mustRelease(t, out[2])
			if synctest.Wait(); len(got) != 1 {
				t.Errorf("%s: it waits, and a Get would have the memory", line)
			}
			for i, b := range out {
				if i != 2 && i != 3 {
					mustRelease(t, b)
				}
			}
			all.Wait()
			releaseAll(t, got)
			checkNobodyWaits(t, p)
			checkNoneOut(t, p)
			p.Close()
		})
	}
}

// Calls keep their order: a GetAll is not passed by later ones that would fit.
func TestGetAllInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := mustOpen(t, NewLimit(&source{}, 4<<20), Config{Strategy: "exact", TrimAfter: -1})
		out := []PooledBuffer{mustGet(t, p, 1<<20), mustGet(t, p, 1<<20), mustGet(t, p, 1<<20)}
		var mu sync.Mutex
		var order []string
		var all sync.WaitGroup
		for _, w := range []struct {
			name  string
			sizes []int
		}{{"four", []int{1 << 20, 1 << 20, 1 << 20, 1 << 20}}, {"one", []int{1 << 20}}, {"three", []int{1 << 20, 1 << 20, 1 << 20}}} {
			all.Go(func() {
				list := check.Ok(p.GetAll(context.Background(), w.sizes...))(t)
				mu.Lock()
				order = append(order, w.name)
				mu.Unlock()
				releaseAll(t, list)
			})
			synctest.Wait()
		}
		for _, b := range out {
			if len(order) > 0 {
				t.Errorf("%v came beside what is out", order)
			}
			mustRelease(t, b)
			synctest.Wait()
		}
		all.Wait()
		if order[0] != "four" {
			t.Error(fmt.Sprint(order))
		}
		checkNoneOut(t, p)
		p.Close()
	})
}

// If the upstream panics in the midst of a GetAll, what it had goes back.
func TestGetAllOfAnUpstreamThatPanics(t *testing.T) {
	p := mustOpen(t, &source{FailAt: 3, Panic: true}, Config{Strategy: "direct"})
	if !doesPanic(func() { _, _ = p.GetAll(t.Context(), 10, 1000, 2000) }) {
		t.Error("no panic")
	}
	checkNoneOut(t, p)
}

// Each takes two at once of as many as there are, and none starves; all comes back.
func TestManyTakeTwoOfFew(t *testing.T) {
	for _, line := range []string{"device=heap", "device=mmap", "device=mmap,strategy=exact", "device=mmap,strategy=direct"} {
		p := openLine(t, line+",max_bytes=2MiB")
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), 7))
				for range long(t, 150) {
					n := 1 + r.IntN(300<<10)
					list, err := p.GetAll(context.Background(), n, 1+r.IntN(300<<10), 0)
					check.Must(t, err)
					if list[0].Len() != n {
						t.Errorf("%d bytes, not %d", list[0].Len(), n)
					}
					if r.IntN(4) == 0 {
						b, err := p.Get(n)
						_ = b.Release()
						if err != nil && !errors.Is(err, device.ErrOutOfMemory) {
							t.Error(err)
						}
					}
					releaseAll(t, list)
				}
			})
		}
		all.Wait()
		checkNobodyWaits(t, p)
		checkNoneOut(t, p)
		p.Close()
	}
}
