package metal

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
)

// Info describes a GPU.
type Info struct {
	Name    string // what device.Open takes: metal:0
	Device  string // the GPU's
	Unified bool   // CPU and GPU have the same memory

	RecommendedBytes int64 // that a program should have at most: recommendedMaxWorkingSetSize
	MaxBytes         int64 // of one region
}

// String returns a line for people.
func (i Info) String() string {
	memory := "memory of its own"
	if i.Unified {
		memory = "unified memory"
	}
	return fmt.Sprintf("%s: %s, %s", i.Name, i.Device, memory)
}

// Devices lists the GPUs in the order of their numbers. The error wraps
// [device.ErrUnavailable] where there is none. Devices is safe for concurrent use.
func Devices() ([]Info, error) {
	found, err := system()
	if err != nil {
		return nil, err
	}
	infos := make([]Info, len(found))
	for i, h := range found {
		infos[i] = h.Info
	}
	return infos, nil
}

// system loads the libraries and looks what there is, once.
var system = sync.OnceValues(func() ([]*hardware, error) {
	a, err := load()
	if err != nil {
		return nil, err
	}
	return list(a)
})

// hardware is a GPU. It is never released: memory outlives the device that it came from.
type hardware struct {
	*api
	Info
	gpu  id
	lost atomic.Pointer[Error]

	edges sync.Mutex // while words of private memory are changed in part
	book  sync.Mutex // of what streams have under way and why they failed; nothing is waited for under it

	mu     sync.Mutex
	stages []*stage // not in use
}

// A stage is shared memory for copies that the GPU cannot make by itself: from and to memory that
// it does not reach, of bytes that are no words, and of bytes that overlap. Of its two halves the first is
// for what was read, the second for what is to be written.
type stage struct {
	hw           *hardware
	queue, obj   id
	read, change []byte
}

// list returns the GPUs, the default one first.
func list(a *api) (found []*hardware, err error) {
	first, _, _ := a.call(a.systemDevice)
	if first == 0 {
		return nil, fmt.Errorf("metal: this system has no GPU that Metal can use: %w", device.ErrUnavailable)
	}
	found = append(found, a.describe(id(first), 0))
	others, _, _ := a.call(a.allDevice)
	for i := range a.tell(id(others), selCount) {
		gpu := a.ask(id(others), selObjectAtIndex, i)
		if a.tell(gpu, selRegistryID) != a.tell(id(first), selRegistryID) {
			found = append(found, a.describe(a.keep(gpu), len(found)))
		}
	}
	a.release(id(others))
	return found, nil
}

func (a *api) describe(gpu id, number int) *hardware {
	h := &hardware{api: a, gpu: gpu, Info: Info{
		Name:             fmt.Sprintf("metal:%d", number),
		Unified:          a.tell(gpu, selUnified)&0xff != 0, // a BOOL is a byte
		RecommendedBytes: limited(a.tell(gpu, selRecommended)),
		MaxBytes:         limited(a.tell(gpu, selLongest)),
	}}
	a.pooled(func() { h.Info.Device = a.text(a.ask(gpu, selName)) })
	return h
}

func limited(n uintptr) int64 { return int64(min(uint64(n), math.MaxInt64)) }

// memInfo returns what may still be allocated, and what the system recommends.
func (h *hardware) memInfo() (free, total int64) {
	total = h.RecommendedBytes
	return max(0, total-limited(h.tell(h.gpu, selAllocated))), total
}

// noted remembers a loss: Metal is asked for nothing more then.
func (h *hardware) noted(err error) error {
	var e *Error
	if errors.As(err, &e) && errors.Is(e, device.ErrDeviceLost) {
		h.lost.CompareAndSwap(nil, e)
	}
	return err
}

// usable returns the error of every call after the GPU was lost.
func (h *hardware) usable() error {
	if e := h.lost.Load(); e != nil {
		return fmt.Errorf("metal: %s: %w", h.Name, e)
	}
	return nil
}

// newQueue returns a command queue.
func (h *hardware) newQueue() (id, error) {
	q := h.ask(h.gpu, selNewQueue)
	if q == 0 {
		return 0, isNil(selNewQueue, "%s", h.Name)
	}
	return q, nil
}

// once has the GPU do what encode asks for, and waits for it.
func (h *hardware) once(queue id, detail string, encode func(blit id)) (err error) {
	h.pooled(func() {
		buffer := h.ask(queue, selCommandBuffer)
		blit := h.ask(buffer, selBlit)
		if blit == 0 {
			err = isNil(selBlit, "%s", detail)
			return
		}
		encode(blit)
		h.tell(blit, selEndEncoding)
		h.tell(buffer, selCommit)
		h.tell(buffer, selWait)
		err = h.noted(h.outcome(buffer, detail))
	})
	return err
}
