package slab

import (
	"math"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// Large buffers that are cleared take the memory of what the program touches, also when their blocks are reused.
func TestZeroLeavesPagesWithoutMemory(t *testing.T) {
	const size, most = 64 << 20, 16 << 10 // KiB; the shadow of -asan has 8 MiB
	gets := map[string]func(p *Pool) (PooledBuffer, error){
		"zero=true": func(p *Pool) (PooledBuffer, error) { return p.Get(size) },
		"GetZeroed": func(p *Pool) (PooledBuffer, error) { return p.GetZeroed(size) },
		"Grow": func(p *Pool) (PooledBuffer, error) {
			b, err := p.Get(size / 2)
			if err != nil {
				return b, err
			}
			return b.Grow(size)
		},
	}
	for _, line := range []string{"device=mmap", "device=heap", "device=heap,strategy=slab", "device=mmap,strategy=exact"} {
		for name, get := range gets {
			if name == "Grow" && (line != "device=mmap" || math.MaxInt == math.MaxInt32) {
				continue // it copies, and so touches what it copies to
			}
			t.Run(line+"/"+name, func(t *testing.T) {
				c := check.Ok(ParseConfig(line))(t)
				c.Zero = name != "GetZeroed"
				p := check.Ok(OpenConfig(c))(t)
				defer func() { check.Must(t, p.Close()) }()
				before := residentKiB(t)
				for range 3 {
					b := check.Ok(get(p))(t)
					for at := 5; at < size; at += size / 16 {
						if b.Bytes()[at] != 0 {
							t.Fatal("not clear")
						}
						b.Bytes()[at] = 1
					}
					if more := residentKiB(t) - before; more > most {
						t.Fatalf("%d KiB more are in memory, of 16 pages that were touched", more)
					}
					mustRelease(t, b)
				}
			})
		}
	}
}
