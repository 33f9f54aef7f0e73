package slab

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Calls that keep buffers while they wait for more.

// 32 goroutines want 64 MiB in all, which are there twice over, four buffers each. All take three and wait for
// the fourth: none
// can go on, and the errors say what is out and how many wait.
func TestCallsThatKeepBuffersWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPool(t, "mmap", Config{MaxBytes: 64 * mib})
		var mu sync.Mutex
		var errs []error
		var all sync.WaitGroup
		for range 32 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				for range 4 {
					b, err := p.GetContext(ctx, 4*mib)
					if err != nil {
						mu.Lock()
						errs = append(errs, err)
						mu.Unlock()
						return
					}
					defer mustRelease(t, b)
					time.Sleep(time.Millisecond) // of the bubble's clock: all ask for one before any asks for two
				}
			})
		}
		all.Wait()
		told := false
		for _, err := range errs {
			var wait *WaitError
			if !errors.As(err, &wait) || !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			told = told || strings.Contains(err.Error(), "with 67108864 bytes active in 16 buffers, 32 calls wait: ")
		}
		if len(errs) != 32 || !told {
			t.Errorf("%d of 32 fail, none says that all that wait have all that is out: %v", len(errs), errs)
		}
		endBeside(t, p)
	})
}

// Where each of them takes all at once, and cuts it, all are done.
func TestCallsThatTakeAllAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPool(t, "mmap", Config{MaxBytes: 64 * mib})
		var all sync.WaitGroup
		for range 32 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				b, err := p.GetContext(ctx, 16*mib)
				if err != nil {
					t.Error(err)
					return
				}
				for i := range 4 {
					part, err := b.Slice(i*4*mib, (i+1)*4*mib)
					if err != nil {
						t.Error(err)
						return
					}
					part.Bytes()[0]++
					mustRelease(t, part)
				}
				mustRelease(t, b)
			})
		}
		all.Wait()
		endBeside(t, p)
	})
}

// Packets wait for a handshake, and take the whole budget but for what is promised to handshakes. Each handshake
// has its
// buffers, by Get and by GetContext, while packets queue and keep theirs; so all packets pass in the end.
func TestAReservedPartForHandshakes(t *testing.T) {
	for _, line := range []string{"heap,sizeclass", "mmap,slab", "mmap,sizeclass"} {
		t.Run(line, func(t *testing.T) {
			dev, strategy, _ := strings.Cut(line, ",")
			needRange(t, dev)
			synctest.Test(t, func(t *testing.T) {
				const size, handshakes, packets = 64 << 10, 100, 64
				top := NewLimit(openDevice(t, dev), 32*size)
				c := withoutClock(strategy)
				data := mustOpen(t, top, c)
				shake := mustOpen(t, mustLimit(t, top, 4*size, 4*size), c)
				done := make(chan struct{}) // a token for each packet that a handshake lets go
				most, out, mu, all := 0, 0, sync.Mutex{}, sync.WaitGroup{}
				for range packets {
					all.Go(func() {
						b, err := data.GetContext(t.Context(), size)
						if err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						out++
						most = max(most, out)
						mu.Unlock()
						<-done
						mu.Lock()
						out--
						mu.Unlock()
						mustRelease(t, b)
					})
				}
				synctest.Wait()
				for i := range handshakes {
					var has [4]PooledBuffer
					for k := range has {
						b, err := shake.Get(size)
						if (i+k)%2 == 0 && err == nil {
							mustRelease(t, b)
							b, err = shake.GetContext(t.Context(), size)
						}
						if err != nil {
							t.Fatal(err)
						}
						has[k] = b
					}
					releaseAll(t, has[:])
					for range min(8, packets-min(packets, 8*i)) {
						done <- struct{}{}
					}
				}
				all.Wait()
				if most != 28 {
					t.Errorf("%d packets had memory at a time", most)
				}
				endBeside(t, data, shake)
			})
		})
	}
}
