package unifiedbuffers

import "github.com/bufslab/bufslab/unified"

// A residence says on which sides an element is current. It is dirty if it was
// written on one side since both were current.
type residence struct {
	in    [2]bool
	dirty bool
}

const host, onDevice = 0, 1

// A purpose is what a side is wanted for, in the words of package unified.
type purpose int

const (
	toRead purpose = iota
	toWrite
	toOverwrite
	toSync
	toMark
)

// refusal is the error that an access must give, or nil.
func (m *unifiedModel) refusal(lo, hi, side int, w purpose) error {
	if w != toMark {
		return nil
	}
	for _, c := range m.cells[lo:hi] {
		if !c.in[side] && c.in[1-side] && c.dirty {
			return unified.ErrConflict
		}
		if !c.in[side] {
			return unified.ErrUninitialized
		}
	}
	return nil
}

// grant notes an access that succeeded, and counts the bytes that had to move.
func (m *unifiedModel) grant(lo, hi, side int, w purpose) {
	pulled := false
	for i := lo; i < hi; i++ {
		c := &m.cells[i]
		pull := c.in[1-side] && !c.in[side] && w != toOverwrite && w != toMark
		m.moved.count(side, pull, pulled)
		pulled = pull
		switch {
		case pull:
			c.in, c.dirty = [2]bool{true, true}, false
		case !c.in[side] && w != toSync:
			c.in[side] = true
		}
		if w == toWrite || w == toOverwrite || w == toMark {
			c.in[1-side], c.dirty = false, true
		}
	}
}

// traffic is what a simulated device counts.
type traffic struct{ toDevice, toHost, calls int64 }

// count counts a byte that moves to a side, in the call of the byte before if
// that moved too.
func (f *traffic) count(side int, moves, before bool) {
	if !moves {
		return
	}
	if side == host {
		f.toHost++
	} else {
		f.toDevice++
	}
	if !before {
		f.calls++
	}
}

// state is what State has to return.
func (m *unifiedModel) state() unified.State {
	weight := []unified.State{unified.Uninitialized, unified.Synchronized, unified.HostOnly, unified.DeviceOnly,
		unified.HostDirty, unified.DeviceDirty}
	most := 0
	for _, c := range m.cells {
		k := 0
		switch {
		case c.in[host] && c.in[onDevice]:
			k = 1
		case c.in[host] || c.in[onDevice]:
			k = 2
			if c.in[onDevice] {
				k++
			}
			if c.dirty {
				k += 2
			}
		}
		most = max(most, k)
	}
	return weight[most]
}

// ranges is how many runs of elements with equal residence there are.
func (m *unifiedModel) ranges() (n int) {
	for i, c := range m.cells {
		if i == 0 || c != m.cells[i-1] {
			n++
		}
	}
	return n
}

// current reports whether the host side has the elements.
func (m *unifiedModel) current(lo, hi int) bool {
	for _, c := range m.cells[lo:hi] {
		if !c.in[host] {
			return false
		}
	}
	return true
}
