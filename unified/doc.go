// Package unified keeps one array in two places, in the host's memory and in a
// device's, and copies what is not current when it is asked for.
//
//	dev, err := device.Open("cuda:0")
//	b, err := unified.New[float32](dev, 1000)
//	m, err := b.HostMut()      // to read and write; the device side is behind from now on
//	block, err := b.DeviceMut() // copies what was written; the host side is behind
//	m, err = b.Host()          // copies it back
//
// # Residency
//
// Every element is in one of six [State]s. A table says for each state and each
// kind of access what has to be copied, and the state after it; state.go has
// it, and nothing else decides. Accessors carry intent: Host and Device read,
// HostMut and DeviceMut read and write, HostOverwrite and DeviceOverwrite write
// all. A range or a view makes only its elements move. So copies are as few and
// as small as can be, with two exceptions: ranges with so little between them
// that another call would cost more (see [device.Priced]) are one copy, and so
// are some where there are more than [MaxRanges].
//
// The contents of a new buffer are zeros. They cost nothing until a side is
// read, and nothing at all where it is overwritten.
//
// An error changes nothing. What was written is lost only when somebody
// overwrites it, or with the device: who marks both sides as written gets
// [ErrConflict]. When the device is lost, the host side goes on to be read and
// written as far as it is current.
//
// # Streams
//
// The methods whose names end in On put work on a stream of the buffer's
// device and return. Who needs what the work writes waits for it, and so does
// who would overwrite what it reads or writes: methods without a stream in the
// calling goroutine, those on another stream by an event. Without a stream
// (nil) they are the methods of the shorter name. Copies of memory that is not
// pinned may be done within the call.
//
// Work can fail late. A copy that did counts as not done when somebody needs
// it, and is made again; the stream has its error. What the caller's own work
// should have computed nobody can make again: if its stream has failed, every
// read gives that error until the elements are written anew.
//
// # The cast
//
//	Buffer      a handle of an array of T; views are handles of a part
//	array       memory on two sides, residency and uses
//	residency   the state of each element, as ranges
//	use         work on a stream that may not be done
//	memory      the pools that all buffers of a device share
//	Pool        released buffers, kept whole for the next of their kind
//
// # What it is not for
//
// Types with pointers, which no device can follow. Memory that the CPU and the
// device reach alike: there are two copies even then.
package unified
