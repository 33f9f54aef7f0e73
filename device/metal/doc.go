// Package metal makes the GPUs of a Mac devices. Importing it registers the scheme "metal":
//
//	import _ "github.com/bufslab/bufslab/device/metal"
//
//	d, err := device.Open("metal:0")
//
// The number counts the GPUs, the system's default first; [Devices] lists them, and "metal" is the
// first. Behind the number stands the kind of memory:
//
//	metal:0           memory that CPU and GPU share, where they have the same (Apple silicon); else as private
//	metal:0:private   memory that only the GPU reaches
//	metal:0:pinned    memory that CPU and GPU share; a [device.Pinner]'s, and that of [Device.Register]
//
// All devices of one number copy to and from each other. This package launches no kernels;
// [Device.Handle], [Buffer.Handle] and [Stream.Queue] return what another binding needs to launch one.
//
// # Copies and streams
//
// The GPU makes copies and fills of a [Stream] within memory of this package, and a call returns at
// once. It moves multiples of 4 bytes from offsets that are multiples of 4. Other copies of shared memory are
// the CPU's, others of private memory go by way of shared memory; both are done when
// the call returns, after all earlier work of the stream. So are copies from and to
// other host memory. Work begins with the next Record, Sync, Close or Queue, or when 64 pieces are
// waiting.
//
// The CPU must not use shared memory while work on it is under way.
//
// # Errors
//
// Metal finds memory for a buffer when it is first used. Alloc refuses more than the
// system recommends ([Info].RecommendedBytes), and what passes may still fail when the work
// is done: Sync and Event.Sync then return an [*Error] that wraps [device.ErrOutOfMemory]. Work that was
// begun behind failed work may have been done, with what it found. A GPU that was removed, or that
// takes no more work of the process, gives [device.ErrDeviceLost] at every call but Free.
//
// # What it needs
//
// Metal of macOS, loaded when the first device is opened: nothing is linked, and no cgo is used. It is built for darwin
// and linux on amd64 and arm64. On linux it finds a double of Metal alone, for tests. Everywhere else, and where there
// is no GPU, Open gives an error that wraps [device.ErrUnavailable] and says why. It has never run on a Mac:
// docs/gpu.md says which lines rest on documentation alone.
//
//	api.go        messages to objects of Metal
//	bind.go       where they come from
//	errors.go     what can go wrong
//	hardware.go   the GPUs there are
//	device.go     device.Device
//	kind.go       kinds of memory
//	buffer.go     blocks that are out
//	register.go   memory of the program's own
//	place.go      where the bytes of a block are
//	copy.go       what moves them
//	stage.go      copies by way of shared memory
//	stream.go     queues
//	stream_work.go  what they do
//	batch.go      command buffers under way, and what became of them
//	event.go      points in a queue
//	underway.go   which memory they use
package metal
