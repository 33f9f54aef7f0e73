package devicetest

import (
	"errors"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// orderAmong: streams that pass a block on by events see each other's work in
// order, even if some of them are late.
func orderAmong(t *testing.T, d device.Device) {
	needsMemory(t, d)
	const n, rounds = 4099, 20
	a := alloc(t, d, n)
	defer d.Free(a)
	streams := make([]device.Stream, 4)
	for i := range streams {
		streams[i] = stream(t, d)
	}
	var last device.Event
	var backs []device.Block
	for i := range rounds {
		s := streams[i*3%len(streams)]
		if last != nil {
			must(t, s.Wait(last))
		}
		must(t, s.Fill(part(a, i, n-2*i), byte(i+1)))
		back := onHost(t, make([]byte, n))
		must(t, s.Copy(back, a))
		backs = append(backs, back)
		last = record(t, s)
	}
	must(t, last.Sync())
	for i, back := range backs {
		m := device.Bytes(back)
		if m[i] != byte(i+1) || m[n-i-1] != byte(i+1) || i > 0 && (m[i-1] != byte(i) || m[n-i] != byte(i)) {
			t.Fatalf("round %d found %d, %d and %d, %d where it and the one before wrote", i, m[max(i-1, 0)], m[i],
				m[n-i-1], m[n-max(i, 1)])
		}
	}
	for _, s := range streams {
		must(t, s.Close())
	}
}

// sharedStream: goroutines share a stream, and each one's work is done in order.
func sharedStream(t *testing.T, d device.Device) {
	needsMemory(t, d)
	const n, each = 1000, 4
	s := stream(t, d)
	var wg sync.WaitGroup
	for g := range each {
		b, back := alloc(t, d, n), onHost(t, make([]byte, n))
		defer d.Free(b)
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 25 {
				value := byte(1 + i*each + g)
				if err := roundTrip(s, b, back, value); err != nil {
					t.Error(err)
					return
				}
				if m := device.Bytes(back); m[0] != value || m[n-1] != value {
					t.Errorf("after its event, goroutine %d has %d and %d, not %d", g, m[0], m[n-1], value)
				}
			}
		}()
	}
	wg.Wait()
	must(t, s.Sync(), s.Close())
}

// roundTrip fills b, copies it back and waits, on a stream that others use too.
// It is for goroutines, which must not call Fatal.
func roundTrip(s device.Stream, b, back device.Block, value byte) error {
	err := errors.Join(s.Fill(b, value), s.Copy(back, b))
	e, recorded := s.Record()
	if err = errors.Join(err, recorded); err != nil {
		return err
	}
	return errors.Join(s.Wait(e), e.Sync())
}

// closeWaits: after Close of a stream its work is done, and its events are over.
func closeWaits(t *testing.T, d device.Device) {
	needsMemory(t, d)
	const n = 1 << 20
	b := alloc(t, d, n)
	defer d.Free(b)
	s, back := stream(t, d), onHost(t, make([]byte, n))
	for v := range byte(10) {
		must(t, s.Fill(b, v))
	}
	must(t, s.Copy(back, b))
	e := record(t, s)
	must(t, s.Close())
	if m := device.Bytes(back); m[0] != 9 || m[n-1] != 9 {
		t.Errorf("after Close the last copy has %d and %d, not 9", m[0], m[n-1])
	}
	if !e.Done() {
		t.Error("after Close of its stream an event is not done")
	}
	eventually(t, e)
	wants(t, s.Wait(e), "Wait after Close", device.ErrClosed)
}

// done: an event becomes done even if no call waits for it.
func done(t *testing.T, d device.Device) {
	needsMemory(t, d)
	b := alloc(t, d, 1<<20)
	defer d.Free(b)
	s := stream(t, d)
	must(t, s.Fill(b, 1))
	e := record(t, s)
	within(t, "an event that no call waits for", e.Done)
	same(t, read(t, d, part(b, 0, 1)), []byte{1}, "what was filled before the event")
	must(t, s.Close())
}

// noEventAfterAnError: a stream that has failed records no event, and an event
// from before keeps its result.
func noEventAfterAnError(t *testing.T, d device.Device) {
	a := alloc(t, d, 100)
	defer d.Free(a)
	s := stream(t, d)
	before := record(t, s)
	_ = s.Fill(part(a, 0, a.Region.Size()+1), 1)
	wants(t, s.Sync(), "Sync after a bad Fill", device.ErrSize)
	_, err := s.Record()
	wants(t, err, "Record after a bad Fill", device.ErrSize)
	wants(t, s.Wait(before), "Wait after a bad Fill", device.ErrSize)
	must(t, before.Sync(), s.Close())
}
