package unified

// A State says where the current contents of a buffer are. It is Uninitialized
// until the first access. A buffer without elements is always Uninitialized.
type State uint8

const (
	Uninitialized State = iota // not accessed yet; the contents are zeros, and neither side has them
	HostOnly                   // the host side was read first: it has the zeros, the device side nothing
	DeviceOnly                 // the device side was read first: it has the zeros, the host side nothing
	Synchronized               // both sides are current
	HostDirty                  // the host side was written; the device side is behind or has nothing
	DeviceDirty                // the device side was written; the host side is behind or has nothing
	states        = iota
)

func (s State) String() string {
	if s >= states {
		return "State(?)"
	}
	return [states]string{"Uninitialized", "HostOnly", "DeviceOnly", "Synchronized", "HostDirty", "DeviceDirty"}[s]
}

// A side is one of the two places.
type side uint8

const (
	host side = iota
	onDevice
)

func (s side) String() string { return [2]string{"host", "device"}[s] }

func (s side) other() side { return 1 - s }

// An access is an operation of a caller on one side.
type access uint8

const (
	readHost      access = iota // to read the current contents
	writeHost                   // to read and write
	overwriteHost               // to write all of it without a read
	syncHost                    // to make it current if there are contents
	markHost                    // to say that it was written
	readDevice
	writeDevice
	overwriteDevice
	syncDevice
	markDevice
	accesses = iota
)

// side is the side of the access.
func (c access) side() side {
	if c < readDevice {
		return host
	}
	return onDevice
}

// handsOut reports whether the caller gets memory.
func (c access) handsOut() bool {
	return c != syncHost && c != markHost && c != syncDevice && c != markDevice
}

func (c access) overwrites() bool { return c == overwriteHost || c == overwriteDevice }

func (c access) writes() bool { return c.overwrites() || c == writeHost || c == writeDevice }

// An action comes before an access is granted.
type action uint8

const (
	none action = iota
	zero        // the side gets zeros
	pull        // the side gets the contents of the other side
	lose        // refused: ErrConflict, as a write of the other side would be lost
	void        // refused: ErrUninitialized, as the side holds nothing
)

// A cell has the action of an access in a state, and the state after it. If the
// access is refused, or its action fails, the state stays.
type cell struct {
	do   action
	next State
}

// Short, so that the table can be seen at a glance.
const un, ho, do, sy, hd, dd = Uninitialized, HostOnly, DeviceOnly, Synchronized, HostDirty, DeviceDirty

// The whole of residency. Each element of a buffer is in one of the states, and this
// table alone decides every access.
var table = [states][accesses]cell{
	// Of each state the first line is of the host, the second of the device:
	//  read        write       overwrite   sync        mark
	un: {{zero, ho}, {zero, hd}, {none, hd}, {none, un}, {void, un},
		{zero, do}, {zero, dd}, {none, dd}, {none, un}, {void, un}},
	ho: {{none, ho}, {none, hd}, {none, hd}, {none, ho}, {none, hd},
		{pull, sy}, {pull, dd}, {none, dd}, {pull, sy}, {void, ho}},
	do: {{pull, sy}, {pull, hd}, {none, hd}, {pull, sy}, {void, do},
		{none, do}, {none, dd}, {none, dd}, {none, do}, {none, dd}},
	sy: {{none, sy}, {none, hd}, {none, hd}, {none, sy}, {none, hd},
		{none, sy}, {none, dd}, {none, dd}, {none, sy}, {none, dd}},
	hd: {{none, hd}, {none, hd}, {none, hd}, {none, hd}, {none, hd},
		{pull, sy}, {pull, dd}, {none, dd}, {pull, sy}, {lose, hd}},
	dd: {{pull, sy}, {pull, hd}, {none, hd}, {pull, sy}, {lose, dd},
		{none, dd}, {none, dd}, {none, dd}, {none, dd}, {none, dd}},
}

// weight orders states. If elements are in several states, the state of a buffer is
// the one that takes most care.
var weight = [states]int{un: 0, sy: 1, ho: 2, do: 3, hd: 4, dd: 5}
