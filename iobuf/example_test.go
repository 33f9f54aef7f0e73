package iobuf_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"os"

	"github.com/bufslab/bufslab/iobuf"
	"github.com/bufslab/bufslab/slab"
)

func ExampleBuffer() {
	p, _ := slab.OpenConfig(slab.Config{})
	defer p.Close()
	b := iobuf.New(p)
	defer b.Release()
	if err := json.NewEncoder(b).Encode([]int{1, 2, 3}); err != nil {
		fmt.Println(err)
	}
	fmt.Fprintf(b, "%d bytes", b.Len())
	b.WriteTo(os.Stdout)
	// Output:
	// [1,2,3]
	// 8 bytes
}

// What was written goes on as a handle, without a copy.
func ExampleBuffer_Detach() {
	p, _ := slab.OpenConfig(slab.Config{})
	defer p.Close()
	b := iobuf.New(p)
	b.WriteString("hello")
	x, err := b.Detach()
	fmt.Println(string(x.Bytes()), x.Len(), b.Len(), err)
	fmt.Println(x.Release())
	// Output:
	// hello 5 0 <nil>
	// <nil>
}

// What was written goes on piece by piece: a Buffer that grows copies nothing.
func ExampleBuffer_Segments() {
	p, _ := slab.OpenConfig(slab.Config{})
	defer p.Close()
	b := iobuf.New(p)
	defer b.Release()
	for range 1000 {
		b.WriteString("hello ")
	}
	sum, n := crc32.NewIEEE(), 0
	for _, s := range b.Segments() {
		n, _ = sum.Write(s)
	}
	fmt.Println(len(b.Segments()) > 1, n < b.Len(), sum.Sum32() == crc32.ChecksumIEEE(b.Bytes()), len(b.Segments()))
	// Output:
	// true true true 1
}

// No room is an error, and what was written stays.
func ExampleBuffer_Write() {
	p, _ := slab.OpenConfig(slab.Config{MaxBytes: 1 << 20})
	defer p.Close()
	b := iobuf.New(p)
	defer b.Release()
	b.WriteString("hello")
	n, err := b.Write(make([]byte, 2<<20))
	fmt.Println(n, err != nil, string(b.Bytes()))
	// Output:
	// 0 true hello
}

// A Body owns its memory, which goes back as it is closed.
func ExampleBody() {
	p, _ := slab.OpenConfig(slab.Config{})
	defer p.Close()
	b := iobuf.New(p)
	defer b.Release()
	b.WriteString("hello, transport")
	body, err := b.Body()
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(body.Len(), b.Len(), p.Stats().ActiveBlocks)
	text, err := io.ReadAll(body) // at any time, by any goroutine
	fmt.Printf("%s %v\n", text, err)
	body.Close()
	body.Close() // does no harm
	fmt.Println(p.Stats().ActiveBlocks)
	_, err = body.Read(make([]byte, 1))
	fmt.Println(err)
	// Output:
	// 16 0 1
	// hello, transport <nil>
	// 0
	// iobuf: the Body is closed: file already closed
}

// A second reader begins anew, and keeps the memory, too.
func ExampleBody_Another() {
	p, _ := slab.OpenConfig(slab.Config{})
	defer p.Close()
	h, err := p.Get(5)
	if err != nil {
		fmt.Println(err)
		return
	}
	copy(h.Bytes(), "hello")
	body, err := iobuf.NewBody(h)
	if err != nil {
		fmt.Println(err)
	}
	io.CopyN(os.Stdout, body, 2)
	again, err := body.Another()
	if err != nil {
		fmt.Println(err)
	}
	body.Close()
	fmt.Println(":", p.Stats().ActiveBlocks)
	io.Copy(os.Stdout, again)
	again.Close()
	fmt.Println(":", p.Stats().ActiveBlocks)
	_, err = body.Another()
	fmt.Println(err)
	// Output:
	// he: 1
	// hello: 0
	// iobuf: the Body is closed: file already closed
}

// A server takes memory for a connection while it has something to say. This loop takes the place
// of a buffer for each connection.
func ExampleReadReady() {
	p, _ := slab.OpenConfig(slab.Config{})
	defer p.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer l.Close()
	echo := func(c *net.TCPConn) error {
		defer c.Close()
		for {
			b, err := iobuf.ReadReady(context.Background(), c, p, 32<<10)
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			_, err = c.Write(b.Bytes())
			if err := errors.Join(err, b.Release()); err != nil {
				return err
			}
		}
	}
	go func() {
		c, err := l.Accept()
		if err == nil {
			err = echo(c.(*net.TCPConn))
		}
		if err != nil {
			fmt.Println(err)
		}
	}()

	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Fprint(c, "hello, server")
	c.(*net.TCPConn).CloseWrite()
	text, err := io.ReadAll(c)
	c.Close()
	fmt.Printf("%s %v, %d bytes are held\n", text, err, p.Stats().ActiveBytes)
	// Output: hello, server <nil>, 0 bytes are held
}
