package bufslab_test

import (
	"fmt"
	"log"

	"github.com/bufslab/bufslab/slab"
)

// The first program of README.md.
func Example() {
	pool := slab.MustOpen("device=mmap,strategy=slab,max_bytes=1GiB")
	defer pool.Close()

	b, err := pool.Get(1 << 20)
	if err != nil {
		log.Fatal(err)
	}
	n := copy(b.Bytes(), "hello, memory outside the heap")
	fmt.Printf("%s (%d bytes of %d)\n", b.Bytes()[:n], n, b.Len())
	fmt.Println(b.Release())
	fmt.Println(b.Release()) // is caught
	// Output:
	// hello, memory outside the heap (30 bytes of 1048576)
	// <nil>
	// slab: PooledBuffer released already
}
