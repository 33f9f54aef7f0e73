package slab

import (
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// A refused Free leaves no line: the one that is meant comes later.
func TestRecordWritesNoRefusedFree(t *testing.T) {
	d, err := device.Open("heap")
	if err != nil {
		t.Fatal(err)
	}
	var trace strings.Builder
	r := NewRecord(NewExact(d, Config{}), &trace)
	b, err := r.Alloc(10)
	if err != nil {
		t.Fatal(err)
	}
	wrong := b
	wrong.Len = 9
	if !doesPanic(func() { r.Free(wrong) }) {
		t.Error("Free of 9 bytes, of a block of 10, did not panic")
	}
	r.Free(b)
	if err := r.Close(); err != nil || trace.String() != "op,id,size\na,0,10\nf,0,10\n" {
		t.Errorf("%v, %q", err, trace.String())
	}
}

// counter counts the calls of Alloc.
type counter int

func (c *counter) Alloc(int) (device.Block, error) { *c++; return device.Block{}, nil }
func (c *counter) Free(device.Block)               {}

func TestWrappersAnswerForNoBytesThemselves(t *testing.T) {
	for _, wrap := range []func(Allocator) Allocator{
		func(u Allocator) Allocator { return NewLimit(u, 100) },
		func(u Allocator) Allocator { return NewScopes(u) },
		func(u Allocator) Allocator { return NewCheck(u) },
		func(u Allocator) Allocator { return NewRecord(u, &strings.Builder{}) },
	} {
		var calls counter
		a := wrap(&calls)
		if b, err := a.Alloc(0); b != (device.Block{}) || err != nil || calls != 0 {
			t.Errorf("%T: %+v, %v, %d calls upstream", a, b, err, calls)
		}
	}
}
