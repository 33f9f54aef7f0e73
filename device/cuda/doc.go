// Package cuda makes NVIDIA GPUs devices. It is built with a tag and cgo, on
// linux:
//
//	eval "$(go run github.com/bufslab/bufslab/device/cuda/internal/cudaheader .cuda)" # without a toolkit
//	go build -tags cuda
//
// and importing it registers the scheme cuda. Without the tag [device.Open] of such
// a name gives an error that wraps [device.ErrUnavailable] and says so.
//
//	cuda:0           memory of the first GPU, as cuMemAlloc gives it; a [device.Reserver]
//	cuda:0:managed   memory that GPU and CPU both reach, and that moves between them
//	cuda:0:async     memory of a pool that the driver keeps, since CUDA 11.2
//	cuda:0:pinned    page-locked memory of the host, a [device.Pinner]'s
//
// cuda alone is cuda:0. A GPU's devices share its primary context with other code in
// the program, such as the CUDA runtime. The context is retained when the first
// of them is opened and stays until the program ends.
//
// # Copies and streams
//
// The GPU makes copies between any two blocks of its devices, and a copy of that
// kind on a [device.Stream] returns at once. Other host memory, such as Go's, is
// pageable: the driver might read it after the call, when Go may have moved or
// reused it. So a copy from or to pageable memory waits until it is done, and
// for all earlier work of its stream. Allocate pinned memory, or lock memory
// that you have with a [Registrar].
//
// CPU and GPU share managed memory. It is a race if the CPU uses it while work
// on it is under way.
//
// # Errors
//
// Every error wraps the driver's code, a value of package gorgonia.org/cu. Out of
// memory wraps [device.ErrOutOfMemory]. Some errors leave the context unusable:
// an uncorrectable memory error, an illegal address, a failed launch. After one
// of them every call but Free fails with [device.ErrDeviceLost], until the
// program is started again.
//
// A program that was built with the tag is linked to libcuda.so.1 and does not
// start where that library is missing. Where only the GPU is missing it starts,
// and Open returns the error.
package cuda

import "github.com/bufslab/bufslab/device"

// A Registrar is a device that can page-lock memory of the program. All devices
// of this package are Registrars.
type Registrar interface {
	// Register locks the pages of m and returns m as a block, from which
	// streams of the GPU copy without waiting. The block shares the bytes of m.
	// Free of the same device unlocks the pages; until then m is neither
	// collected nor moved, even if the block is forgotten. The error wraps
	// device.ErrSize when m is empty, and the driver's code when a page is
	// locked already or the system allows no more locked pages.
	Register(m []byte) (device.Block, error)
}
