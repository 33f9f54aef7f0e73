package slab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab/internal/handle"
)

// Programs from reports of other libraries' users: see docs/reports.md.

// A body has a decoder of a free list and a buffer of the pool, and two owners that may both close it.
type body struct {
	buffer  PooledBuffer
	decoder *[1]int // the number of its owner
	free    chan *[1]int
}

// Close puts the decoder back if it is the Close that has ended the buffer: Release tells.
func (b *body) Close() error {
	err := b.buffer.Release()
	if err == nil {
		b.free <- b.decoder
	}
	return err
}

// T7. Of two Closes one puts the decoder back, so that no two bodies have it, and each owner reads what it wrote. The
// control puts it back with each Close.
func TestADoubleCloseThroughAWrapper(t *testing.T) {
	const goroutines, rounds = 8, 500
	p := openPool(t, "heap", Config{})
	free := make(chan *[1]int, 2*goroutines)
	for range goroutines {
		free <- new([1]int)
	}
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for i := range rounds {
				b := &body{mustGet(t, p, 8), <-free, free}
				own := g*rounds + i
				b.decoder[0] = own
				copy(b.buffer.Bytes(), fmt.Sprintf("%8d", own))
				if got := string(b.buffer.Bytes()); got != fmt.Sprintf("%8d", b.decoder[0]) || b.decoder[0] != own {
					t.Errorf("%d reads %s and %d", own, got, b.decoder[0])
				}
				other := make(chan error)
				go func() { other <- b.Close() }()
				first, second := b.Close(), <-other
				if (first == nil) == (second == nil) || errors.Join(first, second) == nil {
					t.Errorf("Closes return %v and %v", first, second)
				}
			}
		})
	}
	all.Wait()
	if s := p.Stats(); s.DoubleReleases != goroutines*rounds || len(free) != goroutines {
		t.Errorf("%d double releases of %d, %d decoders of %d", s.DoubleReleases, goroutines*rounds, len(free), goroutines)
	}
	b := &body{mustGet(t, p, 8), <-free, free}
	for range 2 { // the control
		_ = b.buffer.Release()
		free <- b.decoder
	}
	for len(free) > 2 {
		<-free
	}
	if a, b := <-free, <-free; a != b {
		t.Error("a Close that asks nobody has put no decoder back twice")
	}
}

// T10. What was read after Release in memory of the collector was as before. With check, and with guard on the heap, it
// is not what was written, from the moment of the Release, so a test fails in which it is compared.
func TestAReadAfterReleaseIsWrongAtOnce(t *testing.T) {
	for line, changed := range map[string]bool{"device=heap": false, "device=mmap": false, "device=heap,check=true": true, "device=mmap,check=true": true,
		"device=heap,guard=1": true} {
		if !changed && (raceEnabled || handle.Sanitized) {
			continue // there the default is found, too: late_test.go
		}
		p := openLine(t, line)
		for _, n := range []int{1, 100, 5000, 100_000} {
			b := mustGet(t, p, n)
			m := b.Bytes()
			device.Fill(m, 7)
			mustRelease(t, b)
			same := !slices.ContainsFunc(m, func(c byte) bool { return c != 7 })
			if same == changed {
				t.Errorf("%s: %d bytes are as before: %t", line, n, same)
			}
		}
	}
}

// T11. The owner ends before its workers: all parts that are read stay whole after Release and Close, the LeakError is of
// the block, and its memory is back with the last part.
func TestAnOwnerThatEndsBeforeItsWorkers(t *testing.T) {
	const n, parts = 8 << 20, 8
	for _, dev := range []string{"heap", "mmap"} {
		p := openPool(t, dev, Config{})
		h := mustGet(t, p, n)
		var workers sync.WaitGroup
		ended, right := make(chan struct{}), atomic.Int64{}
		for i := range parts {
			device.Fill(h.Bytes()[i*n/parts:(i+1)*n/parts], byte(i))
			s := mustSlice(t, h, i*n/parts, (i+1)*n/parts)
			workers.Go(func() {
				defer s.Release()
				if i == 3 {
					return // it fails at once
				}
				<-ended
				if bytes.Count(s.Bytes(), []byte{byte(i)}) == n/parts {
					right.Add(1)
				}
			})
		}
		mustRelease(t, h)
		var leak *LeakError
		if err := p.Close(); !errors.As(err, &leak) || leak.Blocks != 1 || leak.Bytes != n {
			t.Errorf("%s: %v", dev, err)
		}
		close(ended)
		workers.Wait()
		if right.Load() != parts-1 {
			t.Errorf("%s: %d parts are right", dev, right.Load())
		}
		checkNothing(t, p)
	}
}

// T12. A cancellation releases the buffer while its owner reads it within With, and others take the memory: the owner
// reads what it wrote, or gets ErrReleased.
func TestACancellationBesideWith(t *testing.T) {
	p := openPool(t, "heap", Config{})
	stop, others, owners := atomic.Bool{}, sync.WaitGroup{}, sync.WaitGroup{}
	for range 2 {
		others.Go(func() {
			for !stop.Load() {
				b := mustGet(t, p, 100)
				check.Must(t, b.With(func(m []byte) { device.Fill(m, 0xEE) }))
				mustRelease(t, b)
			}
		})
	}
	outcomes := [2]atomic.Int64{}
	for g := range 4 {
		owners.Go(func() {
			rng := rand.New(rand.NewPCG(12, uint64(g)))
			for i := range 500 {
				want := fmt.Sprintf("%d of %d%s", i, g, strings.Repeat(".", 60))
				b := mustGet(t, p, 100)
				text := fmt.Appendf(b.Bytes()[:0], "%-99s\n", check.Ok(json.Marshal(want))(t))
				ctx, cancel := context.WithCancel(t.Context())
				released := make(chan error, 1)
				context.AfterFunc(ctx, func() { released <- b.Release() })
				switch rng.IntN(3) {
				case 0:
					cancel()
					released <- <-released
				case 1:
					cancel()
				default:
					go cancel()
				}
				got := ""
				err := b.With(func(m []byte) { check.Must(t, json.Unmarshal(m[:len(text)], &got)) })
				if err == nil && got != want || err != nil && err != ErrReleased {
					t.Errorf("read %q, want %q; %v", got, want, err)
				}
				check.Must(t, <-released)
				outcomes[min(len(got), 1)].Add(1)
			}
		})
	}
	owners.Wait()
	stop.Store(true)
	others.Wait()
	checkNoneOut(t, p)
	if before, read := outcomes[0].Load(), outcomes[1].Load(); before == 0 || read == 0 {
		t.Errorf("%d were released before, %d were read", before, read)
	}
}

// A skewed is a device that ignores the alignment that it promises: its regions begin off bytes beyond a multiple of 4096.
type skewed struct {
	device.Device
	off int
}

type skewedRegion struct{ m []byte }

func (r *skewedRegion) Bytes() []byte { return r.m }
func (r *skewedRegion) Size() int     { return len(r.m) }

func (s skewed) Alloc(size int) (device.Block, error) {
	if size == 0 {
		return s.Device.Alloc(0)
	}
	m := make([]byte, size+2*4096)
	at := -int(uintptr(unsafe.Pointer(&m[0]))) & 4095
	return device.Block{Region: &skewedRegion{m[at+s.off:][:size]}, Len: size}, nil
}

func (s skewed) Free(device.Block) {}

// T20. If the upstream gives memory that is less aligned than it has to be, Get returns an error that wraps ErrUpstream
// and names the address, or a block that is aligned. No strategy panics, and nothing stays out.
func TestAnUpstreamThatIgnoresTheAlignment(t *testing.T) {
	for _, strategy := range Strategies() {
		if strategy == "plan" || !isBuiltin(strategy) {
			continue
		}
		for align, off := range map[int]int{0: 8, 256: 192, 4096: 192} {
			p, err := Open(skewed{openDevice(t, "heap"), off}, Config{Strategy: strategy, Align: align})
			if errors.As(err, new(*ConfigError)) {
				continue // the strategy has no use for align
			}
			check.Must(t, err)
			refused := 0
			for _, n := range []int{1, 100, 1000, 70_000, 1 << 20} {
				b, err := p.Get(n)
				switch {
				case err == nil:
					wantAligned(t, b, max(align, 16))
					mustRelease(t, b)
				case errors.Is(err, ErrUpstream) && strings.Contains(err.Error(), "0x"):
					refused++
				default:
					t.Errorf("%s, align=%d: Get(%d): %v", strategy, align, n, err)
				}
			}
			if refused == 0 {
				t.Errorf("%s, align=%d: each Get has found aligned memory", strategy, align)
			}
			checkNoneOut(t, p)
			check.Must(t, p.Close())
		}
	}
}

// T22. Three layers put their bytes before and after a message: a part of a longer buffer has room on both sides, which
// the buffer's own handle sees. Check finds nothing wrong with it.
func TestRoomBeforeAMessage(t *testing.T) {
	for _, line := range []string{"device=heap,check=true", "device=mmap", "device=mmap,guard=1"} {
		p := openLine(t, line)
		const head, tail = 40, 16
		for n := 0; n < 2000; n += 9 {
			message := bytes.Repeat([]byte{byte(n)}, n)
			h := mustGet(t, p, head+n+tail)
			part := mustSlice(t, h, head, head+n)
			copy(part.Bytes(), message) // as a read into it
			mustRelease(t, part)
			from, to := head, head+n
			for _, layer := range []string{"tls:", "shadow:", "mux:"} {
				from -= copy(h.Bytes()[from-len(layer):from], layer)
			}
			to += copy(h.Bytes()[to:], "0123456789abcdef")
			if got, want := string(h.Bytes()[from:to]), "mux:shadow:tls:"+string(message)+"0123456789abcdef"; got != want {
				t.Fatalf("%s: %q, want %q", line, got, want)
			}
			mustRelease(t, h)
		}
		if s := p.Stats(); s.DoubleReleases != 0 || s.ActiveBlocks != 0 {
			t.Errorf("%s: %v", line, s)
		}
		check.Must(t, p.Close())
	}
}

// T21 of docs/reports.md. A page is got, and a short slice of its beginning is given back. The Put counts by the buffer
// that begins there, whatever the length of the slice.
func TestAShortSliceGivesTheWholeBufferBack(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		for _, strategy := range Strategies()[:len(rows)] {
			p := openPool(t, dev, Config{Strategy: strategy})
			var managed int64
			for range 1000 {
				b := check.Ok(p.GetBytes(4096))(t)
				if err := p.Put(b[:1024:1024]); err != nil {
					t.Fatalf("%s, %s: %v", dev, strategy, err)
				}
				s := p.Stats()
				if managed = max(managed, s.ManagedBytes); s.ActiveBytes != 0 || s.RoundingBytes != 0 || managed > 64<<10 {
					t.Fatalf("%s, %s: %+v", dev, strategy, s)
				}
			}
		}
	}
}

// T14 of docs/reports.md. An append beyond the capacity leaves the buffer for a slice of the Go heap. Its Put is
// ErrForeign, and counted, and the buffer stays out. Grow is the right form.
func TestAnAppendThatMovesOutIsCounted(t *testing.T) {
	p := openPool(t, "mmap", Config{})
	b := check.Ok(p.GetBytes(1 << 20))(t)
	moved := append(b, 1)
	if err := p.Put(moved); !errors.Is(err, ErrForeign) {
		t.Errorf("%v", err)
	}
	if s := p.Stats(); s.ForeignPuts != 1 || s.ActiveBlocks != 1 {
		t.Errorf("%+v", s)
	}
	if err := p.Put(b); err != nil {
		t.Error(err)
	}
	h := mustGet(t, p, 1<<20)
	h.Bytes()[0] = 7
	h = check.Ok(h.Grow(1<<20 + 1<<17))(t)
	if m := h.Bytes(); m[0] != 7 || len(m) != 1<<20+1<<17 {
		t.Errorf("%d bytes", len(m))
	}
	mustRelease(t, h)
}
