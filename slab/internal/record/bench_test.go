package record

import (
	"io"
	"path/filepath"
	"testing"
)

// What the program takes for two events.
func BenchmarkCall(b *testing.B) {
	create := func(name string) *Recorder {
		r, err := Create(filepath.Join(b.TempDir(), name), Options{Times: true})
		if err != nil {
			b.Fatal(err)
		}
		return r
	}
	last, _ := Last(1<<16, "", Options{Times: true})
	for name, r := range map[string]*Recorder{
		"discard": To(io.Discard, Options{Times: true}), "processors": To(io.Discard, Options{Times: true, Processors: true}), "csv": create("x.csv"), "gz": create("x.csv.gz"), "ring": last,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r.Free(r.Alloc(4096), 4096)
			}
		})
	}
}
