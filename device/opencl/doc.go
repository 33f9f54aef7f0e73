// Package opencl makes OpenCL devices available to package device. Importing it
// registers the scheme "opencl":
//
//	import _ "github.com/bufslab/bufslab/device/opencl"
//
//	d, err := device.Open("opencl:0")
//
// The number counts the devices of all platforms in the order in which the
// system lists them; [Devices] lists them with their names, and "opencl" is the
// first. Behind the number stands the form of the memory:
//
//	opencl:0            buffers whose memory is there when Alloc returns
//	opencl:0:deferred   buffers that get memory when they are first used
//	opencl:0:svm        shared virtual memory, coarse-grained: the CPU's or the device's in turn
//	opencl:0:svm-fine   shared virtual memory that both may use at any time
//	opencl:0:pinned     page-locked host memory, which is copied without the CPU
//
// All devices of one number share a cl_context, so blocks of one form can be
// copied to another, and one kernel may use all of them. [New] makes a device in a
// context that the program has from elsewhere. This package launches no
// kernels; [Device.Handles], [Device.SubBuffer], [Stream.Queue] and
// [device.Bytes] return what another binding needs to launch one.
//
// # What it needs
//
// libOpenCL, of OpenCL 1.2 or later, is loaded when the first device is opened.
// Nothing is linked, so a program that imports this package builds without a C
// compiler and without OpenCL, for linux and darwin on amd64 and arm64. The
// program is dynamically linked even with CGO_ENABLED=0, and on linux it needs
// glibc. Where the library, a driver or the ability of a form is missing, and on
// all other systems, Open gives an error that wraps [device.ErrUnavailable] and
// says what is missing.
//
//	api.go        the functions, as fields that a test can swap
//	bind.go       where they come from
//	errors.go     what the codes mean
//	hardware.go   the devices there are
//	context.go    what devices of one number share
//	adopt.go      contexts of the caller's own
//	flags.go      what buffers are for
//	open.go       the names of devices
//	device.go     device.Device
//	subbuffer.go  blocks for kernels
//	region.go     blocks that are out, how much room there is, and when their memory goes
//	form.go, buffer.go, svm.go, pinned.go   the forms
//	place.go      where the bytes of a block are
//	copy.go       commands that move bytes
//	stream.go, event.go   queues, and points in them
//	stream_work.go        what they do
//	underway.go           and what became of it
package opencl
