package slab

import (
	"testing"
	"testing/synctest"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// Who waits does so without one try after the other: a try that fails does not wake itself.
func TestATryDoesNotWakeItself(t *testing.T) {
	for name, on := range refusing {
		for _, strategy := range strategiesWhere(name == "mmap") {
			t.Run(strategy+","+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					a := on(t)
					one, two := mustOpen(t, a, Config{Strategy: strategy}), mustOpen(t, a, Config{Strategy: strategy})
					for _, p := range []*Pool{one, two} {
						b := mustGet(t, one, 500<<10)
						c := getInBubble(t, p, 600<<10)
						mustRelease(t, b)
						mustRelease(t, mustHave(t, c))
					}
					endBeside(t, one, two)
				})
			})
		}
	}
}

// refusing are budgets with room for a block of 600 KiB or one of 500, which refuse at each
// place where that can happen.
var refusing = map[string]func(*testing.T) Allocator{
	"mmap":                 func(t *testing.T) Allocator { return NewLimit(openDevice(t, "mmap"), 1<<20) },
	"mmap:fixed":           func(t *testing.T) Allocator { return NewLimit(openDevice(t, "mmap:fixed"), 1<<20) },
	"heap":                 func(t *testing.T) Allocator { return NewLimit(openDevice(t, "heap"), 1<<20) },
	"a device beneath":     func(*testing.T) Allocator { return NewLimit(sim.New(900<<10), 2<<20) },
	"an allocator beneath": func(*testing.T) Allocator { return NewLimit(&source{Capacity: 900 << 10}, 2<<20) },
	"a parent": func(t *testing.T) Allocator {
		return mustLimit(t, NewLimit(&source{Capacity: 900 << 10}, 2<<20), 2<<20, 100<<10)
	},
	"long regions": func(*testing.T) Allocator { return NewLimit(newUntold(), 1300<<10) },
	"long regions and a parent": func(t *testing.T) Allocator {
		return mustLimit(t, NewLimit(newUntold(), 1300<<10), 2<<20, 0)
	},
}

// An untold device does not say that its regions are longer than what was asked for.
type untold struct{ upstreamtest.Device }

func newUntold() *untold {
	return &untold{upstreamtest.Device{Source: &source{Round: 700 << 10, Host: true}}}
}

func (untold) MemInfo() (free, total int64, err error) { return 0, 0, device.ErrUnavailable }

// What a draw has reserved of a Limit, and upstream does not give, is in the way for that long.
func TestAWaiterHasWhatWasReservedInVain(t *testing.T) {
	for _, out := range []int{0, 100} {
		on := &stopping{Allocator: &source{Capacity: 800}}
		l := NewLimit(on, 1000)
		p := mustOpen(t, l, Config{Strategy: "exact"})
		stays := mustGet(t, p, out)
		on.stopAt(0)
		drawn := make(chan error)
		go func() {
			_, err := l.Alloc(950 - out)
			drawn <- err
		}()
		<-on.stopped
		c := getLater(t, t.Context(), p, 200)
		close(on.resume)
		if err := <-drawn; !outOfMemory(err) {
			t.Error(err)
		}
		mustRelease(t, mustHave(t, c))
		mustRelease(t, stays)
		endBeside(t, p)
		if l.InUse() != 0 {
			t.Errorf("%d bytes in use", l.InUse())
		}
	}
}

// A try that an upstream refuses is no news for those who were refused by the Limit before.
func TestATryDoesNotWakeItselfForOldNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		on := &source{Capacity: 1000}
		p := mustOpen(t, NewLimit(on, 1000), Config{Strategy: "exact"})
		stays, back := mustGet(t, p, 400), mustGet(t, p, 600)
		c := getLater(t, t.Context(), p, 500)
		synctest.Wait() // the Limit was full
		on.Capacity = 700
		mustRelease(t, back)
		synctest.Wait() // the Limit has room, upstream has not
		mustRelease(t, stays)
		mustRelease(t, mustHave(t, c))
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}
