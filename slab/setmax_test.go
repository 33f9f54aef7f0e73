package slab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// eachBounded calls f with a pool of each strategy on each device, whose bound is max.
func eachBounded(t *testing.T, max string, f func(t *testing.T, p *Pool)) {
	for _, dev := range []string{"heap", "mmap", "virtual", "sim"} {
		for _, strategy := range []string{"sizeclass", "slab", "bestfit", "exact", "bitlog", "direct"} {
			line := fmt.Sprintf("device=%s,strategy=%s,max_bytes=%s", dev, strategy, max)
			t.Run(line, func(t *testing.T) { f(t, openLine(t, line)) })
		}
	}
}

// A larger bound is there at once, a smaller one sends held memory back.
func TestSetMaxBytes(t *testing.T) {
	eachBounded(t, "4MiB", func(t *testing.T, p *Pool) {
		list := getAsManyAs(t, p, 1<<20, 8)
		if n := len(list); n < 3 || n > 4 {
			t.Fatalf("%d buffers of 1 MiB in 4", n)
		}
		check.Must(t, p.SetMaxBytes(8<<20))
		if more := getAsManyAs(t, p, 1<<20, 8); len(more) < 3 || p.Stats().MaxBytes != 8<<20 {
			t.Errorf("%d more in 4 MiB more, of %d", len(more), p.Stats().MaxBytes)
		} else {
			list = append(list, more...)
		}
		releaseAll(t, list[1:])
		check.Must(t, p.SetMaxBytes(2<<20))
		if s := p.Stats(); s.ManagedBytes > 2<<20 || s.ActiveBytes != 1<<20 {
			t.Errorf("%d bytes of 2 MiB are managed, %d active", s.ManagedBytes, s.ActiveBytes)
		}
		releaseAll(t, list[:1])
		check.Must(t, p.SetMaxBytes(0))
		if s := p.Stats(); s.MaxBytes != 0 {
			t.Errorf("a bound of %d", s.MaxBytes)
		}
		releaseAll(t, getAsManyAs(t, p, 1<<20, 16))
	})
}

// getAsManyAs gets up to n buffers, until there is no room.
func getAsManyAs(t *testing.T, p *Pool, size, n int) (list []PooledBuffer) {
	t.Helper()
	for range n {
		b, err := p.Get(size)
		if errors.Is(err, device.ErrOutOfMemory) {
			break
		}
		check.Must(t, err)
		list = append(list, b)
	}
	return list
}

// What is out stays, a Get that needs memory fails, and each Release gives back at once, until the rest fits. Then
// buffers are cached again.
func TestSetMaxBytesBelowWhatIsOut(t *testing.T) {
	eachBounded(t, "16MiB", func(t *testing.T, p *Pool) {
		list := getAsManyAs(t, p, 1<<20, 8)
		writePlaces(list)
		check.Must(t, p.SetMaxBytes(4<<20))
		for i, b := range list {
			if got, err := p.Get(1 << 20); !errors.Is(err, device.ErrOutOfMemory) && i < 4 {
				t.Fatalf("%d out, and one more: %v, %v", len(list)-i, got, err)
			} else if err == nil {
				mustRelease(t, got)
			}
			if s := p.Stats(); s.ManagedBytes > max(4<<20, s.ActiveBytes*5/4) {
				t.Fatalf("%d bytes are managed, %d active", s.ManagedBytes, s.ActiveBytes)
			}
			wantPlaces(t, b)
			mustRelease(t, b)
		}
		for range 3 {
			mustRelease(t, mustGet(t, p, 4<<10))
		}
		if p.pool.isAwaited() {
			t.Error("nothing is cached any more")
		}
	})
}

// writePlaces and wantPlaces know what is in the buffers that the CPU reaches.
func writePlaces(list []PooledBuffer) {
	for _, b := range list {
		for i, m := 0, b.Bytes(); i < len(m); i += 4096 {
			m[i] = byte(i >> 12)
		}
	}
}

func wantPlaces(t *testing.T, b PooledBuffer) {
	t.Helper()
	for i, m := 0, b.Bytes(); i < len(m); i += 4096 {
		if m[i] != byte(i>>12) {
			t.Fatalf("byte %d changed", i)
		}
	}
}

// A call that waits is served by a larger bound, and fails by one that it can never fit.
func TestSetMaxBytesAndCallsThatWait(t *testing.T) {
	for _, c := range []struct {
		to   int64
		want error
	}{{8 << 20, nil}, {1 << 20, device.ErrOutOfMemory}} {
		synctest.Test(t, func(t *testing.T) {
			p := openLine(t, "device=mmap,max_bytes=4MiB,trim_after=none")
			out := mustGet(t, p, 2<<20)
			done := make(chan error)
			go func() {
				b, err := p.GetContext(context.Background(), 3<<20)
				_ = b.Release()
				done <- err
			}()
			synctest.Wait()
			check.Must(t, p.SetMaxBytes(c.to))
			if err := <-done; !errors.Is(err, c.want) {
				t.Errorf("to %d: %v", c.to, err)
			}
			mustRelease(t, out)
			p.Close()
		})
	}
}

// Calls that come while too much is out wait until it fits.
func TestAWaitForABoundThatFell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openLine(t, "device=mmap,max_bytes=8MiB,trim_after=none")
		list := getAsManyAs(t, p, 1<<20, 6)
		check.Must(t, p.SetMaxBytes(2<<20))
		got := make(chan PooledBuffer)
		go func() {
			b, err := p.GetContext(context.Background(), 1<<20)
			check.Must(t, err)
			got <- b
		}()
		for i, b := range list {
			synctest.Wait()
			if i < 5 {
				select {
				case <-got:
					t.Fatalf("%d are out of 2, and one more", 6-i)
				default:
				}
			}
			mustRelease(t, b)
		}
		mustRelease(t, <-got)
		p.Close()
	})
}

// What cannot be a bound changes nothing.
func TestSetMaxBytesRefuses(t *testing.T) {
	p := openLine(t, "device=mmap,max_bytes=1MiB")
	for _, n := range []int64{-1, 1, -1 << 62} {
		var fault *ConfigError
		if err := p.SetMaxBytes(n); !errors.As(err, &fault) || p.Stats().MaxBytes != 1<<20 {
			t.Errorf("%d: %v, and a bound of %d", n, err, p.Stats().MaxBytes)
		}
	}
	p.Close()
	if err := p.SetMaxBytes(1 << 20); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if err := new(Pool).SetMaxBytes(1 << 20); !errors.Is(err, ErrClosed) {
		t.Errorf("never opened: %v", err)
	}
}

// A Limit keeps what it has promised, and what was promised to it.
func TestSetMaxOfALimit(t *testing.T) {
	d := openDevice(t, "mmap")
	root := NewLimit(d, 64<<20)
	child := check.Ok(root.Within(32<<20, 8<<20))(t)
	var refused *GuaranteeError
	for l, n := range map[*Limit]int64{root: 8<<20 - 1, child: 8<<20 - 1} {
		if err := l.SetMax(n); !errors.As(err, &refused) {
			t.Errorf("%d: %v", n, err)
		}
	}
	if err := root.SetMax(-1); !errors.Is(err, ErrSize) {
		t.Error(err)
	}
	a, b := mustOpen(t, child, Config{}), mustOpen(t, root, Config{})
	inA, inB := mustGet(t, a, 4<<20), mustGet(t, b, 20<<20)
	check.Must(t, root.SetMax(8<<20))
	if _, err := b.Get(1 << 20); !errors.Is(err, device.ErrOutOfMemory) {
		t.Errorf("20 MiB are out of 8, and one more: %v", err)
	}
	more := mustGet(t, a, 3<<20) // it was promised
	mustRelease(t, inB)
	if n := root.InUse(); n > 8<<20 {
		t.Errorf("%d bytes in use of 8 MiB", n)
	}
	releaseAll(t, []PooledBuffer{inA, more})
	a.Close()
	b.Close()
	check.Must(t, root.SetMax(100<<20))
	if n := root.InUse(); n != 8<<20 {
		t.Errorf("%d bytes in use, where 8 MiB are promised", n)
	}
}

// Bounds change beside Gets, waits and readers: nothing is lost, and at the end all of it fits.
func TestBoundsThatChangeBesideCalls(t *testing.T) {
	for _, line := range []string{"device=heap", "device=mmap", "device=mmap,strategy=sizeclass", "device=mmap,strategy=exact"} {
		p := openLine(t, line+",max_bytes=8MiB")
		ctx, cancel := context.WithCancel(context.Background())
		var calls, other sync.WaitGroup
		for i := range 4 {
			calls.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), 1))
				for range long(t, 300) {
					b, err := p.GetContext(ctx, 1+r.IntN(1<<20))
					if err != nil && !errors.Is(err, device.ErrOutOfMemory) {
						t.Error(err)
						return
					}
					_ = b.Release()
				}
			})
		}
		other.Go(func() {
			r := rand.New(rand.NewPCG(9, 9))
			for ctx.Err() == nil {
				check.Must(t, p.SetMaxBytes(2<<20+r.Int64N(8<<20)))
			}
		})
		calls.Wait()
		cancel()
		other.Wait()
		check.Must(t, p.SetMaxBytes(1<<20))
		if s := p.Stats(); s.ManagedBytes > 1<<20 || s.ActiveBytes != 0 || p.pool.isAwaited() {
			t.Errorf("%s: %+v, awaited %v", line, s, p.pool.isAwaited())
		}
		p.Close()
	}
}

// What comes back below a tight bound without a Release of a pool lets calls that wait on: memory that the program has
// from the Limit itself, and pages that go into quarantine.
func TestATightBoundEndsHoweverMemoryComesBack(t *testing.T) {
	t.Run("by the Limit", func(t *testing.T) {
		l := NewLimit(openDevice(t, "mmap"), 2<<20)
		p := mustOpen(t, l, Config{Strategy: "direct"})
		own := check.Ok(l.Alloc(1 << 20))(t)
		b := mustGet(t, p, 1<<20)
		check.Must(t, l.SetMax(3<<19))
		got := waitFor(t, p, 1<<19)
		if len(got) > 0 {
			t.Error("it did not wait")
		}
		l.Free(own)
		mustRelease(t, <-got)
		mustRelease(t, b)
	})
	t.Run("by quarantine", func(t *testing.T) {
		p := openLine(t, "device=mmap,max_bytes=2MiB")
		b := mustGet(t, p, 1<<19)
		func() { mustGet(t, p, 1<<20).Bytes()[0] = 1 }()
		check.Must(t, p.SetMaxBytes(1<<20))
		got := waitFor(t, p, 1<<17) // it searches itself, and need not wait where it finds what is forgotten
		for p.Stats().Forgotten == 0 {
			runtime.GC()
			runtime.Gosched()
		}
		mustRelease(t, <-got)
		mustRelease(t, b)
	})
}

// The error of a call that waits for a bound to be kept counts calls, and not what keeps the first place.
func TestATightBoundIsNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openLine(t, "device=heap,max_bytes=4MiB")
		b := mustGet(t, p, 2<<20)
		check.Must(t, p.SetMaxBytes(1<<20))
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := p.GetContext(ctx, 100<<10)
			if cancel(); err == nil || !strings.Contains(err.Error(), "with 2097152 bytes active in 1 buffers, 1 calls wait: ") {
				t.Error(err)
			}
		}
		mustRelease(t, b)
		check.Must(t, p.Close())
	})
}

// waitFor has a call wait for a buffer, and returns where it comes, once it waits or has it.
func waitFor(t *testing.T, p *Pool, size int) chan PooledBuffer {
	t.Helper()
	got := make(chan PooledBuffer, 1)
	go func() { got <- check.Ok(p.GetContext(t.Context(), size))(t) }()
	for p.Stats().Waiters == 0 && len(got) == 0 {
		runtime.Gosched()
	}
	return got
}
