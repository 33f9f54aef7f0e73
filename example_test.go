package bufslab_test

import (
	"fmt"
	"log"

	"github.com/bufslab/bufslab/slab"
)

// The first program of README.md.
func Example() {
	pool := slab.MustOpen("max_bytes=1GiB") // on the Go heap
	defer pool.Close()

	b, err := pool.Get(1 << 20)
	if err != nil {
		log.Fatal(err)
	}
	n := copy(b.Bytes(), "hello, memory that comes back")
	fmt.Printf("%s (%d bytes of %d)\n", b.Bytes()[:n], n, b.Len())
	fmt.Println(b.Release())
	fmt.Println(b.Release()) // is caught
	// Output:
	// hello, memory that comes back (29 bytes of 1048576)
	// <nil>
	// slab: PooledBuffer released already
}
