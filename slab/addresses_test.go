package slab

import (
	"testing"

	"github.com/bufslab/bufslab/device"
)

// ranges counts the ranges that are open.
type ranges struct {
	device.Device
	open int
}

type countedRange struct {
	device.Range
	of *ranges
}

func (r *ranges) Reserve(size int) (device.Range, error) {
	g, err := reserveOf(r.Device, size)
	if err != nil {
		return nil, err
	}
	r.open++
	return countedRange{g, r}, nil
}

func (g countedRange) Close() error { g.of.open--; return g.Range.Close() }

// Addresses that no memory was to be had for go back like memory.
func TestRangeWithoutMemoryIsClosed(t *testing.T) {
	for _, name := range []string{"bestfit", "slab"} {
		d, err := device.Open("virtual:100")
		if err != nil {
			t.Fatal(err)
		}
		r := &ranges{Device: d}
		a := newStrategy(r, Config{Strategy: name}.withDefaults())
		if _, err := a.Alloc(10); !outOfMemory(err) {
			t.Fatal(err)
		}
		a.(Holder).FreeHeld()
		if r.open != 0 {
			t.Errorf("%s: %d ranges are open, and nothing is out", name, r.open)
		}
	}
}

// A pool leaves addresses for others, and for the Go heap.
func TestRangesLeaveRoomForOthers(t *testing.T) {
	r := &reserved{}
	for range 200 {
		if _, err := NewSlab(r, Config{}).Alloc(10); err != nil {
			t.Fatal(err)
		}
	}
	if r.bytes > 1<<45 {
		t.Errorf("200 pools reserve %d GiB", r.bytes>>30)
	}
	if _, err := NewBestfit(r, Config{}).Alloc(int(rangeBytes) + 1); err != nil {
		t.Errorf("a block larger than a range as a rule: %v", err)
	}
}

// reserved counts the addresses that are asked for.
type reserved struct{ bytes int64 }

func (r *reserved) Alloc(int) (device.Block, error) { panic("Alloc where there are ranges") }
func (r *reserved) Free(device.Block)               {}

func (r *reserved) Reserve(size int) (device.Range, error) {
	r.bytes += int64(size)
	d, err := device.Open("virtual")
	if err != nil {
		return nil, err
	}
	return reserveOf(d, size)
}
