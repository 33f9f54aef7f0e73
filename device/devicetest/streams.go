package devicetest

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
)

// streams: work is done in the order it was enqueued in, by Sync at the latest.
func streams(t *testing.T, d device.Device) {
	needsMemory(t, d)
	const n = 100001
	a, b := alloc(t, d, n), alloc(t, d, n)
	defer d.Free(a)
	defer d.Free(b)
	s := stream(t, d)
	host, back := onHost(t, pattern(n, 1)), onHost(t, make([]byte, n))
	must(t, s.Copy(a, host), s.Copy(b, a), s.Fill(part(b, 1, n-2), 7), s.Copy(back, b), s.Sync())
	want := bytes.Repeat([]byte{7}, n)
	want[0], want[n-1] = pattern(n, 1)[0], pattern(n, 1)[n-1]
	same(t, device.Bytes(back), want, "what the stream did")
	must(t, s.Fill(device.Block{}, 1), s.Fill(b, 9))
	_ = s.Fill(part(b, 0, b.Region.Size()+1), 1)
	wants(t, s.Sync(), "Sync after a bad Fill", device.ErrSize)
	same(t, read(t, d, b), bytes.Repeat([]byte{9}, n), "what was enqueued before an error")
	must(t, s.Close())
}

// streamError: the first error stays, nothing is done after it, other streams work on.
func streamError(t *testing.T, d device.Device) {
	a := alloc(t, d, 100)
	defer d.Free(a)
	s := stream(t, d)
	_ = s.Copy(a, part(a, 0, 99)) // whether this call says so is the device's business
	_ = s.Fill(part(a, 0, a.Region.Size()+1), 1)
	wants(t, s.Sync(), "Sync after a bad Copy", device.ErrSize)
	wants(t, s.Sync(), "second Sync", device.ErrSize)
	must(t, s.Close())
	wants(t, s.Copy(a, a), "Copy after Close", device.ErrClosed)
	wants(t, s.Fill(a, 1), "Fill after Close", device.ErrClosed)
	_, err := s.Record()
	wants(t, err, "Record after Close", device.ErrClosed)
	wants(t, s.Sync(), "Sync after Close", device.ErrClosed)
	wants(t, s.Close(), "second Close", device.ErrClosed)
	s = stream(t, d)
	_ = s.Wait(nil)
	wants(t, s.Sync(), "Sync after Wait for no event", device.ErrUnavailable)
	must(t, s.Close())
	o := stream(t, d)
	must(t, o.Sync(), o.Close())
}

// accepts: a stream takes memory of its device and of the host, and says which other memory it cannot reach.
func accepts(t *testing.T, d device.Device) {
	needsMemory(t, d)
	s := stream(t, d)
	if _, is := s.(device.Accepter); !is {
		t.Skip("its streams are no device.Accepter")
	}
	own, other := alloc(t, d, 100), alloc(t, sim.New(1<<20), 100)
	must(t, device.Accepts(s, own), device.Accepts(s, onHost(t, make([]byte, 10))), device.Accepts(s, device.Block{}))
	wants(t, device.Accepts(s, other), "memory of another device", device.ErrUnavailable)
	must(t, s.Fill(own, 1), s.Close())
	wants(t, device.Accepts(s, own), "Accepts after Close", device.ErrClosed)
	d.Free(own)
	wants(t, device.Accepts(stream(t, d), own), "freed memory", device.ErrUnavailable)
}

// events: one stream waits for a point in another, of another device too.
func events(t *testing.T, d device.Device) {
	needsMemory(t, d)
	const n = 1000
	a, b := alloc(t, d, n), alloc(t, d, n)
	defer d.Free(a)
	defer d.Free(b)
	first, second := stream(t, d), stream(t, d)
	must(t, first.Copy(a, onHost(t, pattern(n, 1))))
	e := record(t, first)
	must(t, second.Wait(record(t, stream(t, sim.New(1)))), second.Wait(e), second.Copy(b, a))
	after := record(t, second)
	must(t, after.Sync())
	if !e.Done() || !after.Done() {
		t.Error("an event that was waited for is not done")
	}
	same(t, read(t, d, b), pattern(n, 1), "what the second stream copied")
	must(t, first.Close(), second.Close())
	eventually(t, e)
}

// eventually checks that Sync of a past event returns at once, from any goroutine.
func eventually(t *testing.T, e device.Event) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- e.Sync() }()
	select {
	case err := <-done:
		must(t, err)
	case <-time.After(patience):
		t.Fatalf("an event that is done was waited for longer than %v", patience)
	}
}

// within asks until the answer is yes.
func within(t *testing.T, what string, yes func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !yes(); {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come true in %v", what, patience)
		}
		runtime.Gosched()
	}
}
