package budget

import (
	"testing"

	"github.com/bufslab/bufslab/device"
)

// A pool is a Pool that notes what it is asked for.
type pool struct {
	counting
	hurries       int // that are not over
	gave, wakes   int
	free, managed int64
	gets          int64 // below 0: something is out
	watches       bool
}

func (p *pool) Hurry()               { p.hurries++ }
func (p *pool) Relax()               { p.hurries-- }
func (p *pool) GiveNow()             { p.gave++ }
func (p *pool) Free() int64          { return p.free }
func (p *pool) Managed() int64       { return p.managed }
func (p *pool) Gets() int64          { return p.gets }
func (p *pool) WakeAll()             { p.wakes++ }
func (p *pool) Watch(b *Budget) bool { return p.watches }
func (p *pool) AddCalm(c *Calm) bool {
	c.Gets += p.gets
	c.Managed += p.managed
	return p.gets >= 0
}

// Pools hurry exactly while calls wait, those too that come or go meanwhile.
func TestPoolsHurryWhileCallsWait(t *testing.T) {
	b := new(Budget)
	early, late := new(pool), new(pool)
	b.Share(early)
	b.Share(new(counting)) // which is no pool
	w, other := NewWaiter([]*Budget{b}), NewWaiter([]*Budget{b})
	want := func(what string, e, l int) {
		t.Helper()
		if early.hurries != e || late.hurries != l {
			t.Errorf("%s: %d and %d hurries, want %d and %d", what, early.hurries, late.hurries, e, l)
		}
	}
	want("before", 0, 0)
	b.Join(w)
	b.Join(other)
	want("two wait", 1, 0)
	b.Leave(w)
	want("one waits", 1, 0)
	b.Share(late)
	b.Share(late) // is in
	want("a pool has come", 1, 1)
	if b.Unshare(early) {
		t.Error("the last has gone")
	}
	b.Unshare(early) // is not in
	want("a pool has gone", 0, 1)
	b.Leave(other)
	want("none waits", 0, 0)
	if b.Unshare(late) || b.Members() != 1 {
		t.Errorf("%d members", b.Members())
	}
	if b.Share(early); early.hurries != 0 {
		t.Error("a pool hurries though no call waits")
	}
	b.Unshare(early)
	want("a pool has come and gone while none waits", 0, 0)
	for m := range b.members.set {
		if !b.Unshare(m) {
			t.Error("the last has not gone")
		}
	}
}

// Members that come and go are a change, after which there may be room.
func TestMembersAreChanges(t *testing.T) {
	b, p := new(Budget), &pool{watches: true}
	before := b.Queue.Changes()
	b.Share(p)
	shared := b.Queue.Changes()
	if n, ok := b.Watch(); shared == before || n != shared || !ok {
		t.Errorf("%d changes, then %d, %d are watched from: %v", before, shared, n, ok)
	}
	p.watches = false
	if _, ok := b.Watch(); ok {
		t.Error("watched, though a pool may have room")
	}
	if b.Unshare(p); b.Queue.Changes() == shared {
		t.Error("no change as a pool goes")
	}
	b.Share(new(counting))
	if _, ok := b.Watch(); ok {
		t.Error("watched, though a member is no pool")
	}
}

// Reclaim asks one member after the other until there is enough, but for one.
func TestReclaimEndsWithEnough(t *testing.T) {
	b := new(Budget)
	list := make([]counting, 5)
	for i := range list {
		b.Share(&list[i])
	}
	asked := func() (n int) {
		for i := range list {
			n += list[i].calls
		}
		return n
	}
	if b.Reclaim(&list[0], func() bool { return false }) || asked() != 4 || list[0].calls != 0 {
		t.Errorf("%d calls, %d of them of the exception", asked(), list[0].calls)
	}
	if !b.Reclaim(&list[0], func() bool { return asked() == 6 }) || asked() != 6 {
		t.Errorf("%d calls", asked())
	}
}

// Pools are asked for what needs no wait, other members for what they hold; only pools have calls that wait.
func TestGiveNow(t *testing.T) {
	b, p, m := new(Budget), new(pool), new(counting)
	b.Share(p)
	b.Share(m)
	if b.GiveNow(); p.gave != 1 || p.calls != 0 || m.calls != 1 {
		t.Errorf("%d and %d calls of a pool, %d of another", p.gave, p.calls, m.calls)
	}
	if b.WakeMembers(); p.wakes != 1 {
		t.Errorf("woken %d times", p.wakes)
	}
}

// Room grows with what is free, and to take memory and give it back leaves it as it was. After a Get of another call
// the same room may have other places.
func TestRoom(t *testing.T) {
	left, p := int64(70), &pool{free: 20, managed: 30}
	for _, b := range []*Budget{{Left: func() int64 { return left }}, {}} {
		b.Share(p)
		b.Share(new(counting))
		left, p.free, p.managed = 70, 20, 30
		was := b.Room()
		check := func(what string, more bool) {
			t.Helper()
			if now := b.Room(); now.Exceeds(was) != more {
				t.Errorf("%v became %v as %s", was, now, what)
			}
		}
		left, p.free, p.managed = 60, 30, 40
		check("free memory was drawn", false)
		p.free += 7
		check("7 bytes came back", true)
		was = b.Room()
		left, p.free, p.managed = 65, 32, 35
		check("5 free bytes went upstream", false)
		p.gets++
		p.free -= 7
		check("a Get took 7", true)
		was = b.Room()
		p.free -= 7
		check("7 went without a Get", false)
	}
}

// All is calm where no pool has anything out, and no one else has what is drawn.
func TestCalm(t *testing.T) {
	drawn := int64(50)
	b := &Budget{Drawn: func() int64 { return drawn }}
	p, q := &pool{gets: 3, managed: 30}, &pool{gets: 4, managed: 20}
	b.Share(p)
	b.Share(q)
	if c, ok := b.Calm(); !ok || c != (Calm{7, 50}) {
		t.Errorf("%+v, %v", c, ok)
	}
	if drawn = 51; calm(b.Calm()) {
		t.Error("calm, though another has memory")
	}
	if b.Drawn = nil; !calm(b.Calm()) {
		t.Error("not calm where the budget does not tell what is drawn")
	}
	if p.gets = -1; calm(b.Calm()) {
		t.Error("calm, though a pool has something out")
	}
	b = new(Budget)
	if b.Share(new(counting)); calm(b.Calm()) {
		t.Error("calm, though a member does not tell")
	}
}

func calm(_ Calm, ok bool) bool { return ok }

// An odd device is no key of a map.
type odd struct {
	device.Device
	_ []int
}

// A device has one budget while it has members; one that is no key of a map has none.
func TestBudgetsOfDevices(t *testing.T) {
	d, err := device.Open("virtual")
	if err != nil {
		t.Fatal(err)
	}
	a, b := new(pool), new(pool)
	for range 2 {
		if OfDevice(d) != nil {
			t.Error("a budget without members")
		}
		ShareDevice(d, a)
		first := OfDevice(d)
		ShareDevice(d, b)
		if first == nil || OfDevice(d) != first || first.Members() != 2 {
			t.Errorf("%p, then %p", first, OfDevice(d))
		}
		UnshareDevice(d, a)
		UnshareDevice(d, a)
		if OfDevice(d) != first {
			t.Error("the budget has gone before its last member")
		}
		UnshareDevice(d, b)
		UnshareDevice(d, b)
	}
	for _, d := range []device.Device{nil, odd{}} {
		if ShareDevice(d, a); OfDevice(d) != nil {
			t.Errorf("%T has a budget", d)
		}
		UnshareDevice(d, a)
	}
}
