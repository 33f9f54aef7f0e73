package metal

import (
	"os"
	"runtime"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// A pool of whole regions of mmap gives what the GPU uses without a copy.
func TestRegisteredMemoryIsCopiedWithoutWaiting(t *testing.T) {
	lazy(t)
	d := opened(t, "metal:0:private")
	p := check.Ok(slab.OpenConfig(slab.Config{Device: "mmap", Strategy: "exact"}))(t)
	m := check.Ok(p.Get(64 << 10))(t)
	b := check.Ok(d.Register(m.Bytes()))(t)
	if &device.Bytes(b)[0] != &m.Bytes()[0] || b.Len != m.Len() || cap(device.Bytes(b)) != m.Len() {
		t.Error("the block is not the memory that was registered")
	}
	s, on, want := streamOn(t, d), allocated(t, d, b.Len), devcheck.Pattern(b.Len, 0)
	check.Must(t, d.Copy(on, device.Host(want)))
	clear(m.Bytes())
	check.Must(t, s.Copy(b, on))
	e := devcheck.Record(t, s)
	if m.Bytes()[1] == want[1] {
		t.Error("the copy was waited for")
	}
	check.Must(t, e.Sync())
	check.Same(t, m.Bytes(), want, "bytes")
	d.Free(b)
	if device.Bytes(b) != nil {
		t.Error("memory of a freed block can be had")
	}
	check.Panics(t, "a second Free", func() { d.Free(b) })
	check.Must(t, m.Release(), p.Close())
}

// pages is memory of Go that begins at a page.
func pages(n int) []byte {
	page := os.Getpagesize()
	m := make([]byte, (n+1)*page)
	for off := range page {
		if b := m[off:]; device.Bytes(device.Host(b)) != nil && aligned(b, page) {
			return b[:n*page]
		}
	}
	panic("no page")
}

func TestRegisterRefuses(t *testing.T) {
	d := opened(t, "metal:0")
	m := pages(2)
	for _, bad := range [][]byte{nil, {}, m[1:], m[:len(m)-1], m[16 : len(m)-16]} {
		check.Wraps(t, check.Err(d.Register(bad)), device.ErrSize)
	}
	d.Free(check.Ok(d.Register(m))(t))
	check.Must(t, d.Close())
	check.Wraps(t, check.Err(d.Register(m)), device.ErrClosed)
}

// Metal has no part in giving the memory back: it gets no block of code to call.
func TestRegisterHasNoDeallocator(t *testing.T) {
	d := check.Ok(openOn(anew(t), "0"))(t)
	a, call, asked := d.hw.api, d.hw.call, 0
	a.call = func(fn uintptr, args ...uintptr) (r1, r2, errno uintptr) {
		if fn == a.send && args[1] == a.sel[selNewWithoutCopy] {
			if asked++; args[4] != storageShared || args[5] != 0 {
				t.Errorf("options %d, deallocator %d", args[4], args[5])
			}
		}
		return call(fn, args...)
	}
	d.Free(check.Ok(d.Register(pages(1)))(t))
	if asked != 1 {
		t.Errorf("%d regions are made", asked)
	}
}

// A GPU with memory of its own does not use the CPU's.
func TestRegisterOfMemoryThatIsNotUnified(t *testing.T) {
	set(t, "UNIFIED", 0)
	d := check.Ok(openOn(anew(t), "0"))(t)
	check.Wraps(t, check.Err(d.Register(pages(1))), device.ErrUnavailable)
}

// Memory that is registered and forgotten stays, and what is freed is collected.
func TestForgottenRegistrationStays(t *testing.T) {
	d := opened(t, "metal:0")
	for _, free := range []bool{false, true} {
		gone := make(chan struct{})
		func() {
			m := pages(1)
			runtime.AddCleanup(&m[0], func(int) { close(gone) }, 0)
			b := check.Ok(d.Register(m))(t)
			if free {
				d.Free(b)
			} else {
				t.Cleanup(func() {
					registered.Range(func(r, _ any) bool { d.Free(device.Block{Region: r.(*Buffer), Len: r.(*Buffer).asked}); return true })
				})
			}
		}()
		collected := false
		for range 20 {
			runtime.GC()
			select {
			case <-gone:
				collected = true
			default:
				runtime.Gosched()
			}
		}
		if collected != free {
			t.Errorf("memory that was freed (%t) is collected: %t", free, collected)
		}
	}
}
