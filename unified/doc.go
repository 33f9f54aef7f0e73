// Package unified keeps one array in two places, in the host's memory and in a
// device's. When a program asks for one side, the elements are copied that are not current there.
//
//	dev, err := device.Open("cuda:0")
//	b, err := unified.New[float32](dev, 1000)
//	m, err := b.HostMut()       // to read and write; the device side is behind from now on
//	block, err := b.DeviceMut() // copies what was written; the host side is behind
//	m, err = b.Host()           // copies it back
//	b.Free()
//
// A [Buffer] is for one array. A [Pool] keeps released buffers whole, for the next of their kind:
// [Acquire] instead of [New], Release instead of Free; [AcquireContext] waits for memory where there is
// no room, and [With] releases by itself.
//
// # Residency
//
// Every element is in one of six states, see [State]. The table in state.go says for each
// state and each kind of access what has to be copied, and which state follows.
// The name of a method says what the caller does: Host and Device read, HostMut
// and DeviceMut read and write, HostOverwrite and DeviceOverwrite write all
// elements. An access of a range or a view moves only its elements. A buffer
// makes as few and as small copies as possible, with two exceptions: two ranges
// are one copy where the bytes between them take less time than another call
// (see [device.Traits]), and some are where there are more than [MaxRanges].
//
// The contents of a new buffer are zeros. They cost nothing until a side is
// read, and nothing at all where it is overwritten.
//
// An error changes nothing. A write is lost only when it is overwritten, or with
// the device: a mark that would lose one gives [ErrConflict]. When the device is
// lost, the elements that are current on the host can still be read and written.
//
// # Shared memory
//
// Where CPU and device share their memory ([device.Traits].Shared: a Mac's metal:0) both sides are the same bytes.
// States and methods are the same, and nothing is copied: [Pool.MemoryUsage] counts what was not. An access of
// the host side then waits for all work on the elements, as the device reads and writes what the program does. A slice does
// not keep the memory, so keep the Buffer; of one that is forgotten after a slice was taken the memory stays out. [NewPoolOn] with
// a host pool keeps two copies.
//
// # Streams
//
// The methods whose names end in On put work on a stream of the buffer's
// device and return. A later access waits for the work if it needs what the work
// writes, or would overwrite what it reads or writes: an access without a stream
// waits in the calling goroutine, an access on another stream by an event. With
// the stream nil these methods are those of the shorter name. Copies of memory
// that is not pinned may be done within the call.
//
// Work can fail late. A failed copy counts as not done: the next access that
// needs it makes it again, and the stream keeps its error. Results of the
// caller's own work cannot be made again: if its stream has failed, every read
// gives that error until the elements are written anew.
//
// # The cast
//
//	Buffer      a handle of an array of T; views are handles of a part
//	array       memory on two sides, residency and uses
//	residency   the state of each element, as ranges
//	use         work on a stream that may not be done
//	memory      the slab pools that both sides are of: the device's, or the caller's
//	Pool        released buffers, kept whole for the next of their kind; NewPoolOn puts it on slab pools of the caller's
//
// # What it is not for
//
// Types with pointers, which no device can follow.
package unified
