package device

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"testing"
)

// lateSim returns a late device, a stream of it and a block of zeros on it.
func lateSim(t testing.TB, seed uint64) (*Sim, Stream, Block) {
	t.Helper()
	d := NewSim(1 << 20)
	b := allocated(t, d, 100)
	succeed(t, d.Copy(b, Host(make([]byte, 100))))
	d.Late(seed)
	return d, streamOf(t, d), b
}

func streamOf(t testing.TB, d Device) Stream {
	t.Helper()
	s, err := d.NewStream()
	succeed(t, err)
	return s
}

func recorded(t testing.TB, s Stream) Event {
	t.Helper()
	e, err := s.Record()
	succeed(t, err)
	return e
}

func succeed(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// first returns the first byte of a block, whatever its streams are at.
func first(t testing.TB, d Device, b Block) byte {
	t.Helper()
	m := make([]byte, 1)
	succeed(t, d.Copy(Host(m), Block{b.Region, b.Off, 1}))
	return m[0]
}

// What is overwritten before a late copy has read it arrives overwritten, for
// most seeds; after Sync never.
func TestLateCopyReadsItsSourceWhenItIsDone(t *testing.T) {
	wrong := 0
	for seed := range uint64(100) {
		for _, waits := range []bool{false, true} {
			d, s, b := lateSim(t, seed)
			m := []byte{1}
			succeed(t, s.Copy(Block{b.Region, 0, 1}, Host(m)))
			if waits {
				succeed(t, s.Sync())
			}
			m[0] = 2
			succeed(t, s.Sync())
			if got := first(t, d, b); got != 1 && waits {
				t.Fatalf("seed %d: %d, not 1, although somebody waited", seed, got)
			} else if got != 1 {
				wrong++
			}
		}
	}
	if wrong < 50 {
		t.Errorf("a missing wait showed in %d runs of 100", wrong)
	}
}

// The same seed gives the same run, another one another.
func TestLateIsDeterministic(t *testing.T) {
	run := func(seed uint64) (log []byte) {
		d, s, b := lateSim(t, seed)
		o := streamOf(t, d)
		for i := range 100 {
			succeed(t, s.Fill(b, byte(2*i)), o.Fill(b, byte(2*i+1)))
			log = append(log, first(t, d, b))
		}
		return append(log, d.Clock().String()...)
	}
	if !bytes.Equal(run(1), run(1)) {
		t.Error("two runs with one seed differ")
	}
	if bytes.Equal(run(1), run(2)) {
		t.Error("two seeds give the same run")
	}
}

// Work of one stream is done in order, of several in any.
func TestLateOrder(t *testing.T) {
	overtaken := false
	for seed := range uint64(20) {
		d, s, b := lateSim(t, seed)
		o := streamOf(t, d)
		var order, one []int
		for i := range 20 {
			note := func(...[]byte) {
				order = append(order, i)
				if i%2 == 0 {
					one = append(one, i)
				}
			}
			on := []Stream{s, o}[i%2].(*SimStream)
			succeed(t, on.Launch(0, note, b))
		}
		succeed(t, s.Sync(), o.Sync())
		if len(order) != 20 || !slices.IsSorted(one) {
			t.Fatalf("seed %d: order %v", seed, order)
		}
		overtaken = overtaken || !slices.IsSorted(order)
	}
	if !overtaken {
		t.Error("no stream ever overtook the other")
	}
}

// Copy of the device waits for no stream, but what Wait waits for is there.
func TestLateWaits(t *testing.T) {
	early := 0
	for seed := range uint64(100) {
		d, s, b := lateSim(t, seed)
		o, c := streamOf(t, d), allocated(t, d, 100)
		succeed(t, s.Fill(b, 1))
		if first(t, d, b) == 0 {
			early++
		}
		succeed(t, o.Wait(recorded(t, s)), o.Copy(c, b), o.Sync())
		if first(t, d, c) != 1 {
			t.Fatalf("seed %d: Wait did not wait", seed)
		}
	}
	if early < 50 {
		t.Errorf("a missing wait showed in %d runs of 100", early)
	}
}

// Whoever asks for long enough hears that an event is done, with a clock that
// nothing else moves too.
func TestDoneComesTrue(t *testing.T) {
	for _, costs := range []SimCosts{{}, {Latency: 1e6}} {
		d := NewSim(100)
		d.Costs(costs)
		if costs == (SimCosts{}) {
			d.Late(1)
		}
		s := streamOf(t, d)
		succeed(t, s.Fill(allocated(t, d, 1), 1))
		e := recorded(t, s)
		for n := 0; !e.Done(); n++ {
			if n > 10000 {
				t.Fatal("the event is not done")
			}
		}
		succeed(t, e.Sync())
	}
}

// Pinned memory is the host's, counted by the device, and no part of its capacity.
func TestSimPinned(t *testing.T) {
	d := NewSim(1)
	p, err := d.Pinned()
	succeed(t, err)
	if q, _ := d.Pinned(); q != p || p.Name() != "sim:1:pinned" {
		t.Errorf("%s is not the same at each call", p.Name())
	}
	b := allocated(t, p, 1000) // no power of two
	if s := d.Stats(); s.PinnedBlocks != 1 || s.PinnedBytes != 1000 || s.ActiveBytes != 0 {
		t.Errorf("%+v", s)
	}
	d.FailAlloc(1, ErrOutOfMemory)
	_, err = p.Alloc(1)
	wantErr(t, err, ErrOutOfMemory)
	d.Lose(1)
	_, err = d.Pinned()
	wantErr(t, err, ErrDeviceLost)
	_, err = p.Alloc(1)
	wantErr(t, err, ErrDeviceLost)
	p.Free(b)
	succeed(t, d.Close())
	_, err = p.Alloc(1)
	wantErr(t, err, ErrClosed)
}

// Goroutines share a stream.
func TestStreamsAreForConcurrentUse(t *testing.T) {
	for _, name := range []string{"heap", "sim", "sim:late=1"} {
		d := opened(t, name)
		s, b := streamOf(t, d), allocated(t, d, 10)
		var wg sync.WaitGroup
		for range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 100 {
					e, err := s.Record()
					if err := errors.Join(err, s.Fill(b, 1), s.Wait(e), s.Copy(b, b), e.Sync(), s.Sync()); err != nil {
						t.Error(err)
					}
				}
			}()
		}
		wg.Wait()
		succeed(t, s.Close())
	}
}

func TestLateByName(t *testing.T) {
	for _, name := range []string{"sim:late=3", "sim:1MiB:late=3", "sim:1MiB:late=3:pinned"} {
		if d := opened(t, name); d.Name() != name {
			t.Errorf("%s has the name %s", name, d.Name())
		}
	}
	for name, want := range map[string]error{
		"sim:late=":       ErrUnavailable,
		"sim:late=x":      ErrUnavailable,
		"sim:late=-1":     ErrUnavailable,
		"sim:late=1:1MiB": ErrUnavailable,
		"sim:late":        ErrSize,
		"sim::late=1":     ErrSize,
	} {
		_, err := Open(name)
		wantErr(t, err, want)
	}
}
