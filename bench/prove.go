package main

import (
	"bytes"
	"fmt"
)

// prove looks whether a pool does what it is timed for: one that hands out the same memory
// twice, or less than was asked for, would win every round.
func prove[H any](p pool[H]) error {
	defer closePool(p)
	for _, size := range []int{64, 1000, 4 << 10, 100_000, 1 << 20} {
		for range 3 { // first, and then what it has kept
			if err := proveSize(p, size); err != nil {
				return err
			}
		}
	}
	return nil
}

func proveSize[H any](p pool[H], size int) error {
	var handles [16]H
	var out [len(handles)][]byte
	for i := range out {
		handles[i], out[i] = p.get(size)
		if len(out[i]) != size {
			return fmt.Errorf("%d bytes instead of %d", len(out[i]), size)
		}
		fill(out[i], i)
	}
	for i, b := range out {
		if bytes.Count(b, []byte{byte(i)}) != size {
			return fmt.Errorf("memory of one buffer of %d bytes is another's as well", size)
		}
		p.put(handles[i])
	}
	return nil
}

func fill(b []byte, i int) {
	for at := range b {
		b[at] = byte(i)
	}
}
