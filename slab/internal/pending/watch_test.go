package pending

import (
	"errors"
	"testing"
)

var errLost = errors.New("lost")

// Each stream that blocks wait for is watched once, and a block goes from one stream's queue to the next.
func TestWatch(t *testing.T) {
	x := newBench(t)
	first, both := x.add(100, &x.a), x.add(200, &x.a, &x.b)
	if s, ok := x.q.Watch(); !ok || s != &x.a {
		t.Errorf("%v, %v", s, ok)
	}
	if s, ok := x.q.Watch(); ok {
		t.Errorf("%v is watched again", s)
	}
	for _, want := range []*Block{first, nil} {
		if !x.q.SyncFirst(&x.a) {
			t.Error("no block waits")
		}
		if b := x.q.TakeDone(); b != want {
			t.Errorf("%v is done, not %v", b, want)
		}
	}
	if x.q.SyncFirst(&x.a) || x.q.TakeFor(&x.a, 200) != nil {
		t.Error("a block still waits for the first stream")
	}
	if s, ok := x.q.Watch(); !ok || s != &x.b {
		t.Errorf("%v, %v", s, ok)
	}
	x.want("what waits for the second stream", x.q.TakeFor(&x.b, 200), both, 0)
	x.add(300, &x.a)
	if s, ok := x.q.Watch(); ok {
		t.Errorf("%v is watched again", s)
	}
	x.q.Unwatch(&x.a)
	if s, ok := x.q.Watch(); !ok || s != &x.a {
		t.Errorf("%v, %v", s, ok)
	}
}

// A stream that fails does no more work: its block is done, though its event never is.
func TestSyncFirstOfWhatFails(t *testing.T) {
	x := newBench(t)
	b := NewBlock(x.add(100, &x.a).Entry, false, nil)
	b.uses = []use{{&x.b, lost{}}}
	if !x.q.Add(b) || !x.q.SyncFirst(&x.b) {
		t.Fatal("no block waits")
	}
	x.want("of a stream that is lost", x.q.TakeDone(), b, 1)
}

type lost struct{}

func (lost) Done() bool  { return false }
func (lost) Sync() error { return errLost }
