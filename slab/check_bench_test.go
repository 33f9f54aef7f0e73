package slab

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/poison"
)

// What check=true costs a pair, beside a clear and a comparison of as many bytes.
func BenchmarkCheck(b *testing.B) {
	const size = 1 << 20
	b.Run("clear and compare", func(b *testing.B) {
		m := make([]byte, size)
		for b.Loop() {
			device.Fill(m, poison.Freed)
			if poison.Unlike(m, poison.Freed) >= 0 {
				b.Fatal("it was written")
			}
		}
	})
	for _, line := range []string{"check", "device=mmap,check"} {
		b.Run(line, func(b *testing.B) {
			p := openLine(b, line)
			for b.Loop() {
				mustRelease(b, mustGet(b, p, size))
			}
		})
	}
}
