package slab

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// By default every strategy serves blocks of more than 256 bytes at multiples of 64, on each device of host memory: so
// a line that is offered for another one's breaks no program that needs that.
func TestBlocksBeginAtMultiplesOf64(t *testing.T) {
	for _, device := range []string{"heap", "mmap", "sim:1GiB"} {
		for _, strategy := range Strategies() {
			p := MustOpen("device=" + device + ",strategy=" + strategy)
			r := rand.New(rand.NewPCG(1, 2))
			var out []PooledBuffer
			for i := range 1000 {
				n := 1 + r.IntN(5000)
				if i%50 == 0 {
					n *= 40
				}
				b := mustGet(t, p, n)
				if at := uintptr(unsafe.Pointer(unsafe.SliceData(b.Bytes()))); n > 256 && at%64 != 0 {
					t.Errorf("%s on %s: %d bytes begin at %#x", strategy, device, n, at)
				}
				if out = append(out, b); len(out) > 200 {
					mustRelease(t, takeAt(&out, r.IntN(len(out))))
				}
			}
			releaseAll(t, out)
		}
	}
}
