package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
)

// A lane is a stream with page-locked host memory for a batch and for its result: only such
// memory does a stream copy while the program goes on.
type lane struct {
	stream  *sim.Stream
	host    device.Device
	in, out device.Block
	batch   int
	size    int // of the batch that is under way; 0 is none
}

func newLane(d *sim.Device) (*lane, error) {
	host, err := d.Pinned()
	if err != nil {
		return nil, err
	}
	s, err := d.NewStream()
	if err != nil {
		return nil, err
	}
	l := &lane{stream: s.(*sim.Stream), host: host}
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
		l.stream.Launch(time.Duration(n/16), increment, dst, src),
		l.stream.Copy(out, dst))
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
		if want := byte(l.batch) + 1; b != want {
			return fmt.Errorf("byte %d of batch %d is %d, not %d", at, l.batch, b, want)
		}
	}
	l.size = 0
	return nil
}
