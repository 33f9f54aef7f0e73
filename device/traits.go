package device

// Traits describes a device. Most devices have the zero Traits, and so does a
// device without a method Traits.
type Traits struct {
	// Grain is a power of two; the size of every region is a multiple of Grain. 0
	// means 1. A budget rounds up to Grain to know before Alloc how much a region
	// will take.
	Grain int
	// Align is a power of two. A block that the device uses by itself, for example
	// as the argument of a kernel, has to begin at a multiple of Align in its
	// region. Pools cut blocks there. 0 and 1 mean anywhere.
	Align int
	// Deferred says that a region may get its memory only at its first use. If
	// there is no room, Alloc succeeds and the first use fails, when a pool can no
	// longer give held memory back.
	Deferred bool
	// Shared says that CPU and device reach the same bytes at the same speed, and that work of the device
	// sees all bytes that the CPU has written before the work was enqueued. Then package unified keeps only
	// one copy of an array.
	Shared bool
	// CallBytes is the number of bytes that a copy moves in the time of one more
	// call. Two ranges with fewer bytes between them are copied faster by one
	// call. It is negative where calls take no time, and 0 where the device does
	// not say.
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
