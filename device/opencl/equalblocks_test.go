package opencl

import (
	"testing"

	"github.com/bufslab/bufslab/internal/blocktable"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// OpenCL's buffers cannot grow: equal large ones take what they need, and the rest of a
// budget can be had as one. go test -v prints a table.
func TestEqualBlocksTakeWhatTheyNeed(t *testing.T) {
	d := opened(t, "", unchanged)
	blocktable.Run(t, []int{1 << 20}, func(capacity int64) blocktable.Pool {
		p := check.Ok(slab.Open(d, slab.Config{Strategy: "slab", MaxBytes: capacity}))(t)
		t.Cleanup(func() { check.Must(t, p.Close()) })
		return blocktable.Pool{
			Get: func(size int) (func(), error) {
				b, err := p.Get(size)
				return func() { check.Must(t, b.Release()) }, err
			},
			Managed: func() int64 { return p.Stats().ManagedBytes },
		}
	})
}
