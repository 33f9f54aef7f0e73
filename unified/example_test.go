package unified_test

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/unified"
)

// kernel stands for work on the device: it adds 1 to every byte of a block.
func kernel(d device.Device, b device.Block) {
	m := make([]byte, b.Len)
	_ = d.Copy(device.Host(m), b)
	for i := range m {
		m[i]++
	}
	_ = d.Copy(b, device.Host(m))
}

// What is written on one side is on the other one when the program asks for it.
func Example() {
	d, _ := device.Open("sim")
	b, err := unified.New[byte](d, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Free()
	m, _ := b.HostMut()
	copy(m, []byte{1, 2, 3})
	block, _ := b.DeviceMut() // copies to the device
	kernel(d, block)
	m, _ = b.Host() // and back
	fmt.Println(m)
	// Output: [2 3 4]
}

// Nothing is copied before it is needed, and nothing twice.
func ExampleBuffer_State() {
	d, _ := device.Open("sim")
	b, _ := unified.New[float32](d, 1000)
	fmt.Println(b.State())
	m, _ := b.HostMut()
	m[0] = 1
	fmt.Println(b.State()) // no copy yet
	_, _ = b.Device()
	fmt.Println(b.State())
	_, _ = b.DeviceMut()
	fmt.Println(b.State())
	_, _ = b.Host()
	fmt.Println(b.State())
	// Output:
	// Uninitialized
	// HostDirty
	// Synchronized
	// DeviceDirty
	// Synchronized
}

// Code whose time matters says itself when copies are made, and what its
// kernels have written.
func ExampleBuffer_SyncToDevice() {
	d, _ := device.Open("sim")
	b, _ := unified.New[byte](d, 3)
	_ = b.CopyFrom([]byte{1, 2, 3})
	_ = b.SyncToDevice()
	block, _ := b.Device() // copies nothing any more
	kernel(d, block)
	fmt.Println(b.MarkDeviceDirty())
	fmt.Println(b.SyncToHost())
	m, _ := b.Host() // neither does this
	fmt.Println(m)
	// Output:
	// <nil>
	// <nil>
	// [2 3 4]
}

// Of a write only what was written moves.
func ExampleBuffer_HostMutRange() {
	d := sim.New(1 << 20)
	b, _ := unified.New[int32](d, 1000)
	_ = b.Fill(1)
	_ = b.SyncToDevice()
	for _, i := range []int{10, 500} {
		m, _ := b.HostMutRange(i, i+5)
		m[0] = 7
	}
	before := d.Stats()
	_, _ = b.Device()
	after := d.Stats()
	fmt.Println(after.ToDeviceBytes-before.ToDeviceBytes, "of", b.SizeBytes(), "bytes")
	// Output: 40 of 4000 bytes
}

// A view is a buffer of a part. It moves by itself.
func ExampleBuffer_View() {
	d, _ := device.Open("sim")
	b, _ := unified.New[byte](d, 2, 4)
	_ = b.Fill(1)
	row, _ := b.View(4, 8)
	block, _ := row.DeviceMut()
	kernel(d, block)
	fmt.Println(row.State(), block.Len)
	fmt.Println(b.ToSlice())
	// Output:
	// DeviceDirty 4
	// [1 1 1 1 2 2 2 2] <nil>
}

// Writes on both sides cannot both stand.
func ExampleBuffer_MarkHostDirty() {
	d, _ := device.Open("sim")
	b, _ := unified.New[byte](d, 3)
	m, _ := b.HostMut()
	_, _ = b.DeviceMut()
	m[0] = 1 // too late: it would need another HostMut
	fmt.Println(b.MarkHostDirty())
	// Output: unified: host side marked as written, elements 0 to 3 are DeviceDirty: both sides were written
}

// Page-locked memory is copied faster, and without the host waiting.
func ExampleNewPinned() {
	d := sim.New(1 << 30)
	d.Costs(sim.Costs{ToDevice: 2.5e9, Pageable: 0.5e9})
	for _, open := range []func(device.Device, ...int) (*unified.Buffer[float32], error){unified.New[float32], unified.NewPinned[float32]} {
		b, _ := open(d, 2_500_000)
		_ = b.Fill(1)
		began := d.Clock()
		_, _ = b.Device()
		fmt.Println(d.Clock() - began)
		_ = b.Free()
	}
	heap, _ := device.Open("heap")
	_, err := unified.NewPinned[float32](heap, 1000)
	fmt.Println(err)
	// Output:
	// 20ms
	// 4ms
	// unified: heap has no page-locked host memory: unavailable
}

// How much of a device a buffer takes is the device's to tell.
func ExampleBuffer_SizeBytes() {
	d, _ := device.Open("sim")
	b, _ := unified.New[float32](d, 10_000_000)
	before, _, _ := d.MemInfo()
	_, _ = b.Device() // memory is taken when it is needed
	after, _, _ := d.MemInfo()
	fmt.Println(b.SizeBytes(), before-after >= 40_000_000)
	// Output: 40000000 true
}
