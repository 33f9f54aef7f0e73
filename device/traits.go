package device

// Traits describes a device. Most devices have the zero Traits, and a device
// that does not describe itself counts as one of them.
type Traits struct {
	// Grain is a power of two; the size of every region is a multiple of it. 0
	// means 1. A budget rounds up to it to know before Alloc how much a region
	// will take.
	Grain int
	// Align is a power of two; a block that the device is to use by itself, as
	// the argument of a kernel for instance, has to begin at a multiple of it
	// in its region. Pools cut blocks there. 0 and 1 mean anywhere.
	Align int
	// Deferred says that a region may get its memory only when it is first
	// used. If there is no room, Alloc succeeds and that first use fails; a
	// pool cannot make room by giving back what it holds.
	Deferred bool
	// Shared says that CPU and device reach the same bytes at the same speed, and that work of the device
	// finds what the CPU has written before it was enqueued. Then package unified keeps one
	// copy of an array, and makes no other.
	Shared bool
	// CallBytes is how many bytes a copy moves in the time that one more call
	// takes. Two ranges with fewer bytes than that between them are copied
	// faster by one call. It is negative where calls take no time, and 0 where
	// the device does not say.
	CallBytes int
}

// TraitsOf returns the result of d's method Traits() Traits, or the zero Traits
// if d has no such method. Traits may change while the device is open: ask again
// where that matters.
func TraitsOf(d Device) Traits {
	if t, ok := d.(interface{ Traits() Traits }); ok {
		return t.Traits()
	}
	return Traits{}
}
