package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/bufslab/bufslab/device"
)

// A gpu is a device with page-locked host memory.
type gpu interface {
	device.Device
	device.Pinner
}

// A launcher is a stream with kernels. Streams of package sim are, as their device is simulated.
type launcher interface {
	Launch(took time.Duration, kernel func(args ...[]byte), args ...device.Block) error
}

// A lane is a stream with page-locked host memory for a batch and for its result: only such
// memory does a stream copy while the program goes on.
type lane struct {
	stream  device.Stream
	host    device.Device
	in, out device.Block
	adds    byte // what is computed adds to each byte
	batch   int
	size    int // of the batch that is under way; 0 is none
}

func newLane(d gpu) (*lane, error) {
	host, err := d.Pinned()
	if err != nil {
		return nil, err
	}
	s, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	l := &lane{stream: s, host: host}
	if _, ok := s.(launcher); ok {
		l.adds = 1
	}
	if l.in, err = host.Alloc(largest); err != nil {
		return nil, errors.Join(err, l.close())
	}
	if l.out, err = host.Alloc(largest); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

func (l *lane) close() error {
	err := l.stream.Close()
	l.host.Free(l.in)
	l.host.Free(l.out)
	return err
}

// enqueue sends batch i through the memory src and dst of the device. It does not wait.
func (l *lane) enqueue(i int, src, dst device.Block) error {
	n := src.Len
	in, out := l.in, l.out
	in.Len, out.Len = n, n
	device.Fill(device.Bytes(in), byte(i))
	l.batch, l.size = i, n
	return errors.Join(
		l.stream.Copy(src, in),
		l.compute(dst, src),
		l.stream.Copy(out, dst))
}

// compute enqueues a kernel, or, on a device whose kernels are not written in Go, a copy.
func (l *lane) compute(dst, src device.Block) error {
	if s, ok := l.stream.(launcher); ok {
		return s.Launch(time.Duration(src.Len/16), increment, dst, src)
	}
	return l.stream.Copy(dst, src)
}

// increment stands in for what a program computes.
func increment(args ...[]byte) {
	dst, src := args[0], args[1]
	for i, b := range src {
		dst[i] = b + 1
	}
}

// check waits for the batch that is under way, and looks at its result.
func (l *lane) check() error {
	if l.size == 0 {
		return nil
	}
	if err := l.stream.Sync(); err != nil {
		return err
	}
	for at, b := range device.Bytes(l.out)[:l.size] {
		if want := byte(l.batch) + l.adds; b != want {
			return fmt.Errorf("byte %d of batch %d is %d, not %d", at, l.batch, b, want)
		}
	}
	l.size = 0
	return nil
}
