package slab_test

import (
	"bytes"
	"fmt"

	"github.com/bufslab/bufslab/slab"
)

// A message is cut into its fields. They live on where they are, with no copy, and the
// memory goes back when the last of them is done with.
func ExamplePooledBuffer_Slice() {
	p, _ := slab.OpenConfig(slab.Config{})
	defer p.Close()
	message, _ := p.Get(17)
	copy(message.Bytes(), "from=ann\nto=bob\n\n")

	var fields []slab.PooledBuffer
	for at, m := 0, message.Bytes(); ; {
		n := bytes.IndexByte(m[at:], '\n')
		if n == 0 {
			break
		}
		field, err := message.Slice(at, at+n)
		if err != nil {
			fmt.Println(err)
			return
		}
		fields = append(fields, field)
		at += n + 1
	}
	message.Release()

	for _, f := range fields {
		fmt.Printf("%s, %d block of %d bytes\n", f.Bytes(), p.Stats().ActiveBlocks, p.Stats().ActiveBytes)
		f.Release()
	}
	fmt.Println(p.Stats().ActiveBlocks)
	// Output:
	// from=ann, 1 block of 17 bytes
	// to=bob, 1 block of 17 bytes
	// 0
}

// Two goroutines read the same memory, and neither needs to know which one is done first.
func ExamplePooledBuffer_Share() {
	p, _ := slab.OpenConfig(slab.Config{})
	defer p.Close()
	b, _ := p.Get(5)
	copy(b.Bytes(), "hello")
	other, _ := b.Share()
	done := make(chan string)
	go func() {
		defer other.Release()
		done <- string(other.Bytes())
	}()
	fmt.Println(b.Release())
	fmt.Println(<-done)
	// Output:
	// <nil>
	// hello
}
