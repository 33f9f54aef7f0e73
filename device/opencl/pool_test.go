package opencl

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// Whatever a pool of buffers hands out can be a kernel's argument by itself.
func TestBlocksOfPoolsAreSubBuffers(t *testing.T) {
	for _, strategy := range slab.Strategies() {
		for _, c := range []slab.Config{{}, {CacheBytes: -1}, {Check: true}} {
			d := opened(t, "", unchanged)
			c.Strategy = strategy
			p := check.Ok(slab.Open(d, c))(t)
			for i := range 200 {
				b := check.Ok(p.Get([]int{1, 100, 129, 1000, 5000, 40_000}[i%6]))(t)
				sub, err := d.SubBuffer(b.Block())
				if err != nil {
					t.Fatalf("%s: %v", c, err)
				}
				sub.Release()
				if i%3 > 0 {
					check.Must(t, b.Release())
				}
			}
			if err := p.Close(); !errors.As(err, new(*slab.LeakError)) {
				t.Errorf("%v, and a third of the buffers is out", err)
			}
		}
	}
}

// Pools say what their device has told them.
func TestPoolsKnowTheirDevice(t *testing.T) {
	for form, want := range map[string]string{"": "needs", "deferred": "warning: device opencl:0:deferred", "svm": "default of slab"} {
		t.Run(form, func(t *testing.T) {
			p := check.Ok(slab.Open(opened(t, form, unchanged), slab.Config{}))(t)
			if text := p.Explain(); !strings.Contains(text, want) {
				t.Error(text)
			}
			check.Must(t, p.Close())
		})
	}
	var e *slab.ConfigError
	if _, err := slab.Open(opened(t, "", unchanged), slab.Config{Align: 16}); !errors.As(err, &e) {
		t.Errorf("blocks at multiples of 16 for a device that needs more: %v", err)
	}
}

// small is a driver with room for left bytes, which it does not tell: it fails
// with a code, at once or when the buffer gets its memory.
type small struct {
	left int
	size map[memID]int
	code code
	late bool
}

func (s *small) shrink(a *api) {
	real := *a
	s.size = map[memID]int{}
	a.CreateBuffer = func(c contextID, flags uint64, size uintptr, host unsafe.Pointer, err *code) memID {
		if !s.late && int(size) > s.left {
			*err = s.code
			return 0
		}
		m := real.CreateBuffer(c, flags, size, host, err)
		s.size[m], s.left = int(size), s.left-int(size)
		return m
	}
	a.EnqueueMigrate = func(q queueID, mems uint32, m *memID, flags uint64, n uint32, after, done *eventID) code {
		if s.left < 0 {
			return s.code
		}
		return real.EnqueueMigrate(q, mems, m, flags, n, after, done)
	}
	a.ReleaseMemObject = func(m memID) code {
		s.left += s.size[m]
		delete(s.size, m)
		return real.ReleaseMemObject(m)
	}
}

// The pool gives back what it holds before it fails, whichever code and call
// says that there is no room; nothing is lost on the way.
func TestPoolsAnswerOutOfMemory(t *testing.T) {
	const room = 1 << 20
	for _, strategy := range slab.Strategies() {
		for _, k := range []code{-4, -5, -6} {
			for _, late := range []bool{false, true} {
				s := &small{left: room, code: k, late: late}
				d := opened(t, "", s.shrink)
				p := check.Ok(slab.Open(d, slab.Config{Strategy: strategy}))(t)
				for size := 1000; size < room/2; size += size / 3 {
					b, err := p.Get(size)
					if err != nil {
						t.Fatalf("%s, code %d: %d bytes of %d: %v", strategy, k, size, room, err)
					}
					check.Must(t, b.Release())
				}
				check.Wraps(t, check.Err(p.Get(2*room)), device.ErrOutOfMemory)
				p.StopHolding()
				check.Must(t, p.Close())
				if s.left != room || len(s.size) != 0 || (d.room().Total-d.room().Free()) != 0 {
					t.Errorf("%s, code %d: %d bytes are lost, %d in use", strategy, k, room-s.left, inUse(d))
				}
			}
		}
	}
}

// openOrSkip opens a device, or skips where it is not there.
func openOrSkip(t *testing.T, name string) device.Device {
	t.Helper()
	d, err := device.Open(name)
	if errors.Is(err, device.ErrUnavailable) {
		t.Skipf("the form is not there: %v", err)
	}
	check.Must(t, err)
	return d
}

// Memory that the CPU reaches begins where a Config says, whatever the driver aligns it to, and all of it goes back.
func TestPoolsOfHostMemoryAreAligned(t *testing.T) {
	for name, align := range map[string]int{
		"opencl:0:pinned": 2 << 20, "opencl:0:svm": 4096, "opencl:0:svm-fine": 4096,
	} {
		for _, strategy := range []string{"sizeclass", "bestfit", "slab"} {
			d := openOrSkip(t, name)
			before, _, err := d.MemInfo()
			check.Must(t, err)
			p := check.Ok(slab.Open(d, slab.Config{Strategy: strategy, Align: align}))(t)
			for i := range 30 {
				b := check.Ok(p.Get([]int{1, 5000, 100_000}[i%3]))(t)
				m := b.Bytes()
				if a := uintptr(unsafe.Pointer(&m[0])); a%uintptr(align) != 0 {
					t.Fatalf("%s, %s: %d bytes at %#x", name, strategy, len(m), a)
				}
				m[0], m[len(m)-1] = 1, 2
				check.Must(t, d.Copy(b.Block(), device.Host(make([]byte, len(m)))))
				if m[0] != 0 || m[len(m)-1] != 0 {
					t.Fatalf("%s: a copy went elsewhere", name)
				}
				check.Must(t, b.Release())
			}
			check.Must(t, p.Close())
			if after, _, _ := d.MemInfo(); after != before {
				t.Errorf("%s, %s: %d bytes did not come back", name, strategy, before-after)
			}
			check.Must(t, d.Close())
		}
	}
}

// A region of shared memory that was aligned changes hands as a whole, and its address is that of its bytes.
func TestAlignedSharedMemoryChangesHands(t *testing.T) {
	d := openOrSkip(t, "opencl:0:svm").(*Device)
	const align = 64 << 10
	for range 20 {
		b := check.Ok(d.AllocAligned(1000, align))(t)
		r := b.Region.(*SVM)
		s := check.Ok(d.NewStream())(t)
		if r.Pointer()%align != 0 || r.Size() != 1000 || len(r.Bytes()) != 1000 {
			t.Errorf("%d bytes at %#x", r.Size(), r.Pointer())
		}
		device.Bytes(b)[999] = 7
		check.Must(t, r.Unmap(s), r.Map(s))
		if device.Bytes(b)[999] != 7 {
			t.Error("the contents are lost")
		}
		check.Must(t, s.Close())
		d.Free(b)
	}
	check.Must(t, d.Close())
}
