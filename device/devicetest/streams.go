package devicetest

import (
	"runtime"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
)

func stream(t *testing.T, d device.Device) device.Stream {
	t.Helper()
	s, err := d.NewStream()
	must(t, err)
	return s
}

// streams: work is done in the order it was enqueued in, by Sync at the latest.
func streams(t *testing.T, d device.Device) {
	needsMemory(t, d)
	const n = 100001
	a, b := alloc(t, d, n), alloc(t, d, n)
	defer d.Free(a)
	defer d.Free(b)
	s := stream(t, d)
	host, back := onHost(t, pattern(n, 1)), onHost(t, make([]byte, n))
	must(t, s.Copy(a, host))
	must(t, s.Copy(b, a))
	must(t, s.Fill(part(b, 1, n-2), 7))
	must(t, s.Copy(back, b))
	must(t, s.Sync())
	want := make([]byte, n)
	for i := range want {
		want[i] = 7
	}
	want[0], want[n-1] = pattern(n, 1)[0], pattern(n, 1)[n-1]
	same(t, device.Bytes(back), want, "what the stream did")
	must(t, s.Fill(device.Block{}, 1))
	must(t, s.Sync())
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
	f := stream(t, d)
	_ = f.Fill(part(a, 0, a.Region.Size()+1), 1)
	wants(t, f.Sync(), "Sync after a bad Fill", device.ErrSize)
	must(t, f.Close())
	o := stream(t, d)
	must(t, o.Sync())
	must(t, o.Close())
}

// events: one stream waits for a point in another.
func events(t *testing.T, d device.Device) {
	needsMemory(t, d)
	const n = 1000
	a, b := alloc(t, d, n), alloc(t, d, n)
	defer d.Free(a)
	defer d.Free(b)
	first, second := stream(t, d), stream(t, d)
	must(t, first.Copy(a, onHost(t, pattern(n, 1))))
	e, err := first.Record()
	must(t, err)
	must(t, second.Wait(e))
	must(t, second.Copy(b, a))
	after, err := second.Record()
	must(t, err)
	must(t, after.Sync())
	if !e.Done() || !after.Done() {
		t.Error("an event that was waited for is not done")
	}
	same(t, read(t, d, b), pattern(n, 1), "what the second stream copied")
	must(t, first.Close())
	must(t, second.Close())
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
