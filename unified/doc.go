// Package unified keeps one array in two places, in the host's memory and in a
// device's. Ask for the host side or the device side: what changed on the other side is copied,
// and nothing else.
//
//	dev, err := device.Open("sim:64MiB") // a simulated device of package sim; or cuda:0, metal:0, opencl:0
//	b, err := unified.New[float32](dev, 1000)
//	m, err := b.HostMut()       // to read and write; the device side is behind from now on
//	block, err := b.DeviceMut() // copies to the device; the host side is behind from now on
//	m, err = b.Host()           // copies to the host
//	b.Free()
//
// A [Buffer] is for one array. A [Pool] keeps released buffers whole, for the next buffer of their kind:
// call [Acquire] instead of [New], and Release instead of Free. [AcquireContext] waits for memory where
// there is no room, and [With] releases by itself.
//
// # Residency
//
// Every element is in one of six states, see [State]. What an access copies from the other side, and the
// state after it:
//
//	state          Host               HostMut          Device             DeviceMut
//	Uninitialized  zeros HostOnly     zeros HostDirty  zeros DeviceOnly   zeros DeviceDirty
//	HostOnly       HostOnly           HostDirty        copy Synchronized  copy DeviceDirty
//	DeviceOnly     copy Synchronized  copy HostDirty   DeviceOnly         DeviceDirty
//	Synchronized   Synchronized       HostDirty        Synchronized       DeviceDirty
//	HostDirty      HostDirty          HostDirty        copy Synchronized  copy DeviceDirty
//	DeviceDirty    copy Synchronized  copy HostDirty   DeviceDirty        DeviceDirty
//
// Host and Device read, HostMut and DeviceMut read and write. HostOverwrite and DeviceOverwrite write
// all elements and copy nothing: HostDirty and DeviceDirty follow. An access of a range or a view moves
// only its elements. A buffer makes as few and as small copies as possible, with two exceptions. Two
// ranges are one copy where the bytes between them take less time than another call (see
// [device.Traits]), and ranges are merged beyond [MaxRanges].
//
// The contents of a new buffer are zeros. They cost nothing until a side is
// read, and nothing at all where a side is overwritten first.
//
// An error changes nothing. A write is lost only when it is overwritten, or with
// the device: a mark that would lose a write gives [ErrConflict]. When the device is
// lost, the elements that are current on the host can still be read and written.
//
// # Shared memory
//
// Where CPU and device share their memory ([device.Traits].Shared: a Mac's metal:0) both sides are the same bytes.
// States and methods are the same, and nothing is copied: [Pool.MemoryUsage] counts the copies that were not
// made. An access of the host side then waits for all work on the elements, as device and program use the same
// bytes. A slice does not keep the memory, so keep the Buffer: if a Buffer is forgotten after a slice was taken,
// its memory stays active. [NewPoolOn] with a host pool keeps two copies.
//
// # Streams
//
// The methods whose names end in On put work on a stream of the buffer's
// device and return. A later access waits for the work if it needs elements that the
// work writes, or would overwrite elements that the work reads or writes. An access
// without a stream waits in the calling goroutine, an access on another stream by an
// event. With a nil stream a method is the method of the shorter name. A stream that cannot
// work on the device side, as one of another device, is refused with an error that wraps
// device.ErrUnavailable, and a closed one with device.ErrClosed, before anything else happens
// (see [device.Accepter]). Copies of memory that is not pinned may be done within the call.
//
// Work can fail late. A failed copy counts as not done: the next access that needs
// the copy makes it again, and the stream keeps its error. Results of the caller's
// own work cannot be made again: if its stream has failed, every read returns the
// stream's error until the elements are written anew.
//
// # What it is not for
//
// Types with pointers, which no device can follow.
package unified
