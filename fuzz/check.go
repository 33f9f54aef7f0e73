package fuzz

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/allocators"
	"github.com/bufslab/bufslab/fuzz/internal/devices"
	"github.com/bufslab/bufslab/fuzz/internal/growpools"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/fuzz/internal/pools"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
)

// CheckDevice runs random programs on devices that open makes, a new one for
// each program. Blocks are allocated, written by the CPU or by Copy, copied
// among each other, filled and freed; ranges are committed and
// decommitted; several streams have work on them under way and wait for each
// other by events. What every byte must hold is known throughout.
//
// A device without contents, or without ranges, is checked for the rest. Where
// open says that the device is not there, t is skipped.
func CheckDevice(t *testing.T, open func() (device.Device, error)) {
	t.Helper()
	d, err := open()
	if errors.Is(err, device.ErrUnavailable) {
		t.Skipf("the device is not there: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = d.Close()
	model.Check(t, DeviceProperty(open))
}

// DeviceProperty is the property behind [CheckDevice], for a native fuzz target:
//
//	func FuzzDevice(f *testing.F) { f.Fuzz(rapid.MakeFuzz(fuzz.DeviceProperty(open))) }
func DeviceProperty(open func() (device.Device, error)) func(*rapid.T) {
	return devices.Property(open)
}

// CheckAllocator runs random programs on strategies that factory makes over an
// upstream of the check's own, a new one for each program. What the
// documentation of [slab.Allocator] promises has to hold throughout: blocks
// never overlap and keep what their owner wrote, failures change nothing,
// misuse panics and leaves everything intact. So it has to when the upstream
// has no room or fails, and when the program frees what it must not.
//
// What only some strategies have is checked where the strategy has it: the
// figures of a [slab.UsageReporter] against the model's and the upstream's, and what a
// [slab.Holder] or [slab.Trimmer] gives back. An Alloc that fails and then
// succeeds after FreeHeld is a fault: a strategy that holds memory has to use it
// before it is out of memory. So is one that fails with nothing out though the upstream
// has refused nothing, unless [MaxBytes] says that the strategy has a bound of its own.
//
// Strategies over others are checked like any, as long as they answer for the
// whole: Usage has to tell of all that the upstream gave, and FreeHeld to reach it.
func CheckAllocator(t *testing.T, factory func(upstream slab.Allocator) slab.Allocator, options ...Option) {
	t.Helper()
	model.Check(t, AllocatorProperty(factory, options...))
}

// AllocatorProperty is the property behind [CheckAllocator], for a native fuzz target:
//
//	func FuzzMine(f *testing.F) { f.Fuzz(rapid.MakeFuzz(fuzz.AllocatorProperty(factory))) }
func AllocatorProperty(factory func(upstream slab.Allocator) slab.Allocator, options ...Option) func(*rapid.T) {
	return allocators.Property(factory, settle(options).Settings)
}

// CheckPool runs random programs on pools that open makes over an upstream of
// the check's own, or over a device with [OnDevice], a new one for each
// program. Buffers are got, written, looked at by every way there is, shared and
// cut into parts, named by Refs that are opened at once or later, released,
// released again by copies and stale handles, and released while in use; memory is given back and holding stopped. On a
// device that has contents, streams write to buffers that are released before they are done. The upstream has no room,
// fails and breaks its contract.
//
// What [slab.Pool] promises has to hold after every step: the figures of Stats
// add up and agree with the model's and the upstream's, no two buffers overlap,
// and each holds what its owner wrote. At the end the pool is closed, with
// buffers still out.
//
// A strategy that is registered needs no more than Alloc and Free. One that open puts between the
// upstream and the pool has to be a [slab.UsageReporter] and a [slab.Holder]: else Stats cannot show
// what the upstream gave.
//
// A second Release has to panic where the pool is Strict, and has to be an error elsewhere. Forgotten buffers are not
// checked here: the collector decides when they come back.
func CheckPool(t *testing.T, open func(upstream slab.Allocator) (*slab.Pool, error), options ...Option) {
	t.Helper()
	model.Check(t, PoolProperty(open, options...))
}

// PoolProperty is the property behind [CheckPool], for a native fuzz target:
//
//	func FuzzPool(f *testing.F) { f.Fuzz(rapid.MakeFuzz(fuzz.PoolProperty(open))) }
func PoolProperty(open func(upstream slab.Allocator) (*slab.Pool, error), options ...Option) func(*rapid.T) {
	return pools.Property(open, settle(options).Settings)
}

// CheckGrowPool runs random programs on pools of keyed buffers that open makes
// over a slab.Pool of the check's own, with a strategy that is drawn, or over a
// device with [OnDevice], whose memory the CPU has to reach; a new one for each
// program. Keys are asked for with several element types and shapes, written,
// leased and cleared; bad shapes and types are tried; the memory below has no room
// or fails.
//
// What package growpool promises has to hold after every step: hits, misses and
// grows are counted one by one; a hit shows the memory as it was last written; a
// view has the length, the shape and the alignment that were asked for; what a
// stale view shows belongs to no other key; and the figures of memory agree with
// the slab.Pool's.
//
// With [MaxBytes] keys may lose their buffers at any time, and at most that many
// bytes may be held. MaxSize is 8 KiB unless it is set to less.
func CheckGrowPool(t *testing.T, open func(*slab.Pool) *growpool.Pool[string], options ...Option) {
	t.Helper()
	model.Check(t, GrowPoolProperty(open, options...))
}

// GrowPoolProperty is the property behind [CheckGrowPool], for a native fuzz target:
//
//	func FuzzGrowPool(f *testing.F) { f.Fuzz(rapid.MakeFuzz(fuzz.GrowPoolProperty(open))) }
func GrowPoolProperty(open func(*slab.Pool) *growpool.Pool[string], options ...Option) func(*rapid.T) {
	return growpools.Property(open, settle(options).Settings)
}
