package slab

import (
	"path/filepath"
	"testing"
)

// A pair that a pool records beside one that it does not. The file is a real one, so the
// time has the goroutine that writes it, too, where there are no processors to spare.
func BenchmarkRecord(b *testing.B) {
	file := filepath.Join(b.TempDir(), "trace.csv")
	for _, bench := range []struct {
		name string
		c    Config
	}{
		{"off", Config{}},
		{"csv", Config{Record: file}},
		{"gz", Config{Record: file + ".gz"}},
		{"last", Config{RecordLast: 1 << 16}},
		{"sites", Config{Record: file, RecordSites: true}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			p := openPool(b, "heap", bench.c)
			for b.Loop() {
				h, err := p.Get(4096)
				if err != nil {
					b.Fatal(err)
				}
				if err := h.Release(); err != nil {
					b.Fatal(err)
				}
			}
			if err := p.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}
