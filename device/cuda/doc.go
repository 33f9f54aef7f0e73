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
// cuda alone is cuda:0. A GPU's devices share its primary context with whoever else
// in the program uses it (the CUDA runtime does); it is retained when
// the first of them is opened and stays until the program ends.
//
// # Copies and streams
//
// Copies between any two blocks of one GPU's devices are made by the GPU, and those of a
// [device.Stream] wait for nothing. Other host memory, Go's above all, is pageable: the driver would go on
// to read it after the call, when Go no longer answers for it. So a copy from
// or to pageable memory waits until it is done, and with it for the work that its stream
// has before. Allocate pinned memory, or lock what there is with a [Registrar].
//
// CPU and GPU see the same managed memory: what the CPU does to it while work on it
// is under way is a race.
//
// # Errors
//
// The driver's code is in every error, for errors.Is with those of package
// gorgonia.org/cu. Out of memory wraps [device.ErrOutOfMemory]. After one that
// leaves the context unusable (an uncorrectable memory error, an illegal address, a failed
// launch) everything but Free wraps [device.ErrDeviceLost]; only a new process has the GPU again.
//
// A program that was built with the tag is linked to libcuda.so.1, and where that is not
// installed it does not start: there is no way to say ErrUnavailable. With the library but without a
// GPU it starts, and Open says so.
package cuda

import "github.com/bufslab/bufslab/device"

// A Registrar is a device that can page-lock memory which is there already.
// All devices of this package are.
type Registrar interface {
	// Register locks the pages of m and returns m as a block, from which
	// streams of the GPU copy without waiting. The bytes are shared. The block
	// goes to Free of the same device, which unlocks the pages; until then m is
	// neither collected nor moved, even if the block is forgotten. The error wraps device.ErrSize when m is empty,
	// and holds the driver's code when a page is locked already
	// or the system lets no more be locked.
	Register(m []byte) (device.Block, error)
}
