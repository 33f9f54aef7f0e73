package unified

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
)

// holds says what a state means: whether a side has the contents, and whether
// it alone was written.
var holds = [states][2]bool{un: {}, ho: {true, false}, do: {false, true}, sy: {true, true}, hd: {true, false}, dd: {false, true}}
var dirty = [states][2]bool{hd: {true, false}, dd: {false, true}}

func eachCell(f func(State, access, cell)) {
	for s := range State(states) {
		for c := range access(accesses) {
			f(s, c, table[s][c])
		}
	}
}

// What the table says follows from what the states mean.
func TestTableFollowsFromItsWords(t *testing.T) {
	marks := map[access]bool{markHost: true, markDevice: true}
	syncs := map[access]bool{syncHost: true, syncDevice: true}
	eachCell(func(s State, c access, got cell) {
		own, other := c.side(), c.side().other()
		want := cell{none, s}
		switch {
		case marks[c] && dirty[s][other]:
			want.do = lose
		case marks[c] && !holds[s][own]:
			want.do = void
		case c.overwrites() || marks[c] || holds[s][own]:
		case holds[s][other]:
			want = cell{pull, sy}
		case !syncs[c]:
			want = cell{zero, [2]State{ho, do}[own]}
		}
		if (c.writes() || marks[c]) && want.do != lose && want.do != void {
			want.next = [2]State{hd, dd}[own]
		}
		if got != want {
			t.Errorf("%v, access %d: %+v, want %+v", s, c, got, want)
		}
	})
}

// reach brings a buffer of numbers into a state, by the shortest way, and
// returns its contents.
func reach(t *testing.T, d *sim.Device, s State) (*Buffer[int32], []int32) {
	t.Helper()
	b := check.Ok(New[int32](d, cellLen))(t)
	want := make([]int32, cellLen)
	switch s {
	case ho:
		check.Ok(b.Host())(t)
	case do:
		check.Ok(b.Device())(t)
	case sy, hd, dd:
		check.Must(t, b.CopyFrom(numbers(want, 1)), b.SyncToDevice())
	}
	switch s {
	case hd:
		numbers(check.Ok(b.HostMut())(t), 2)
		numbers(want, 2)
	case dd:
		writeDeviceSide(t, d, b, 3)
		numbers(want, 3)
	}
	if b.State() != s {
		t.Fatalf("state %v, want %v", b.State(), s)
	}
	return b, want
}

const cellLen = 100

// perform makes an access by the exported method for it.
func perform(b *Buffer[int32], c access) error {
	return map[access]func() error{
		readHost:        func() error { return check.Err(b.Host()) },
		writeHost:       func() error { return check.Err(b.HostMut()) },
		overwriteHost:   func() error { return check.Err(b.HostOverwrite()) },
		syncHost:        b.SyncToHost,
		markHost:        b.MarkHostDirty,
		readDevice:      func() error { return check.Err(b.Device()) },
		writeDevice:     func() error { return check.Err(b.DeviceMut()) },
		overwriteDevice: func() error { return check.Err(b.DeviceOverwrite()) },
		syncDevice:      b.SyncToDevice,
		markDevice:      b.MarkDeviceDirty,
	}[c]()
}

func eachCellOnSim(t *testing.T, f func(*testing.T, *sim.Device, *Buffer[int32], []int32, State, access, cell)) {
	eachCell(func(s State, c access, x cell) {
		t.Run(fmt.Sprintf("%v,%d", s, c), func(t *testing.T) {
			d := sim.New(1 << 20)
			b, want := reach(t, d, s)
			f(t, d, b, want, s, c, x)
		})
	})
}

// Every cell does what it says, in as many copies, and no contents are lost.
func TestEveryCell(t *testing.T) {
	eachCellOnSim(t, func(t *testing.T, d *sim.Device, b *Buffer[int32], want []int32, s State, c access, x cell) {
		before := d.Stats()
		err := perform(b, c)
		switch {
		case x.do == lose && !errors.Is(err, ErrConflict),
			x.do == void && !errors.Is(err, ErrUninitialized),
			x.do < lose && err != nil:
			t.Errorf("error %v", err)
		}
		after := d.Stats()
		copies, bytes := int64(0), int64(0)
		if x.do == pull {
			copies, bytes = 1, cellLen*4
		}
		if moved := after.ToDeviceBytes + after.ToHostBytes - before.ToDeviceBytes - before.ToHostBytes; after.CopyCalls-before.CopyCalls != copies || moved != bytes {
			t.Errorf("%d copies of %d bytes", after.CopyCalls-before.CopyCalls, moved)
		}
		if b.State() != x.next {
			t.Errorf("state %v, want %v", b.State(), x.next)
		}
		if !c.overwrites() {
			sameBothSides(t, d, b, want)
		}
	})
}

// sameBothSides looks at the contents by way of either side. The device side
// goes last, as it may be the only current one.
func sameBothSides(t *testing.T, d *sim.Device, b *Buffer[int32], want []int32) {
	t.Helper()
	m := check.Ok(b.ToSlice())(t)
	check.Same(t, m, want, "host side")
	block := check.Ok(b.Device())(t)
	check.Must(t, d.Copy(hostBlock(m), block))
	check.Same(t, m, want, "host side")
}

// A cell whose copy or memory fails changes nothing, and works at the next try.
func TestEveryCellWhenItFails(t *testing.T) {
	eachCellOnSim(t, func(t *testing.T, d *sim.Device, b *Buffer[int32], want []int32, s State, c access, x cell) {
		d.FailCopy(1, errTest)
		d.FailFill(1, errTest)
		err := perform(b, c)
		failed := x.do == pull || x.do == zero && c.side() == onDevice
		if failed != errors.Is(err, errTest) {
			t.Fatalf("error %v", err)
		}
		if !failed {
			return // TestEveryCell has it
		}
		if b.State() != s {
			t.Errorf("state %v after the failure", b.State())
		}
		d.FailCopy(0, errTest)
		d.FailFill(0, errTest)
		check.Must(t, perform(b, c))
		if b.State() != x.next {
			t.Errorf("state %v, want %v", b.State(), x.next)
		}
		sameBothSides(t, d, b, want)
	})
}

// On a lost device a cell that needs it fails and changes nothing; a host side
// that is current stays.
func TestEveryCellWhenTheDeviceIsLost(t *testing.T) {
	eachCellOnSim(t, func(t *testing.T, d *sim.Device, b *Buffer[int32], want []int32, s State, c access, x cell) {
		d.Lose(1)
		err := perform(b, c)
		switch {
		case x.do == pull, x.do == zero && c.side() == onDevice:
			if !errors.Is(err, device.ErrDeviceLost) || b.State() != s {
				t.Errorf("error %v, state %v", err, b.State())
			}
		case x.do < lose && s != un && s != ho && s != hd && err != nil:
			t.Errorf("error %v of what needs no device", err)
		}
		if c.overwrites() {
			return
		}
		now := b.State()
		m, err := b.Host()
		if !holds[now][host] && now != un {
			if !errors.Is(err, device.ErrDeviceLost) {
				t.Errorf("error %v of contents that are lost", err)
			}
			return
		}
		check.Must(t, err)
		check.Same(t, m, want, "host side")
		check.Must(t, b.CopyFrom(numbers(want, 9)))
		m = check.Ok(b.ToSlice())(t)
		check.Same(t, m, want, "host side")
		check.Must(t, b.Free())
	})
}

// performOn is perform on a stream, for the accesses that a stream can make.
func performOn(b *Buffer[int32], c access, s device.Stream) (known bool, err error) {
	make := map[access]func() error{
		syncHost:        func() error { return b.SyncToHostOn(s) },
		syncDevice:      func() error { return b.SyncToDeviceOn(s) },
		readDevice:      func() error { return check.Err(b.DeviceOn(s)) },
		writeDevice:     func() error { return check.Err(b.DeviceMutOn(s)) },
		overwriteDevice: func() error { return check.Err(b.DeviceOverwriteOn(s)) },
	}[c]
	if make == nil {
		return false, nil
	}
	return true, make()
}

// On a stream that works late a cell does the same, and it does not show
// that it is late.
func TestEveryCellOnALateStream(t *testing.T) {
	eachCellOnSim(t, func(t *testing.T, d *sim.Device, b *Buffer[int32], want []int32, s State, c access, x cell) {
		d.Late(1)
		stream := check.Ok(d.NewStream())(t)
		known := check.Ok(performOn(b, c, stream))(t)
		if !known {
			return
		}
		if b.State() != x.next {
			t.Errorf("state %v, want %v", b.State(), x.next)
		}
		if !c.overwrites() {
			sameBothSides(t, d, b, want)
		}
	})
}

// Waiting for a use is waiting for what the caller enqueued before it on the same stream, on no more
// elements, and not for a write if it only reads.
func TestAUseCoversEarlierOnes(t *testing.T) {
	a, b := &sim.Stream{}, &sim.Stream{}
	reads, writes := [2]bool{onDevice: true}, [2]bool{onDevice: true}
	read, write := use{stream: a, lo: 10, hi: 20, reads: reads}, use{stream: a, lo: 10, hi: 20, reads: reads, writes: writes}
	for name, c := range map[string]struct {
		of   use
		old  func(u use) use
		want bool
	}{
		"as before":        {read, func(u use) use { return u }, true},
		"less":             {read, func(u use) use { u.lo, u.hi = 11, 19; return u }, true},
		"ours":             {read, func(u use) use { u.ours = true; return u }, false},
		"another stream":   {read, func(u use) use { u.stream = b; return u }, false},
		"failed":           {read, func(u use) use { u.err = errors.New("failed"); return u }, false},
		"from before":      {read, func(u use) use { u.lo = 9; return u }, false},
		"beyond":           {read, func(u use) use { u.hi = 21; return u }, false},
		"a write":          {read, func(u use) use { u.writes = writes; return u }, false},
		"read, of a write": {write, func(u use) use { u.writes = [2]bool{}; return u }, true},
		"write of a write": {write, func(u use) use { return u }, true},
	} {
		old := c.old(c.of)
		if got := c.of.covers(&old); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
