package wrap_test

import (
	"fmt"
	"os"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/slab/wrap"
)

func ExampleNewStatistics() {
	d, _ := device.Open("virtual")
	s := wrap.NewStatistics(d)
	s.Alloc(100)
	s.Push()
	b, _ := s.Alloc(50)
	s.Free(b)
	fmt.Println("inside:", s.Pop())
	fmt.Println("all:", s.Counts())
	// Output:
	// inside: 1 allocs, 1 frees, 0 bytes now, 50 at most
	// all: 2 allocs, 1 frees, 100 bytes now, 150 at most
}

func ExampleNewCheck() {
	d, _ := device.Open("heap")
	c := wrap.NewCheck(d)
	b, _ := c.Alloc(100)
	fmt.Printf("%#x\n", device.Bytes(b)[0])
	fmt.Println(len(c.Leaks()), c.Leaks()[0].Bytes)
	c.Free(b)
	defer func() { fmt.Println(recover()) }()
	c.Free(b)
	// Output:
	// 0xa1
	// 1 100
	// slab: Free of a block that is not out, 100 bytes at offset 64
}

// Put a Record where the program's calls arrive.
func ExampleNewRecord() {
	d, _ := device.Open("virtual")
	s, _ := slab.NewStrategy("slab", d, slab.Config{})
	r := wrap.NewRecord(s, os.Stdout)
	b, _ := r.Alloc(1000)
	r.Free(b)
	fmt.Println(r.Close())
	// Output:
	// op,id,size
	// a,0,1000
	// f,0,1000
	// <nil>
}
