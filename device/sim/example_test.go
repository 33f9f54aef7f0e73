package sim_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
)

// What a program does without room, or without its device, can be tried out.
func ExampleDevice() {
	d := sim.New(4096)
	d.FailAlloc(2, device.ErrOutOfMemory)
	for range 2 {
		_, err := d.Alloc(1000)
		fmt.Println(err)
	}
	_, err := d.Alloc(4000)
	fmt.Println(err)
	d.Lose(1)
	_, err = d.Alloc(1)
	fmt.Println(errors.Is(err, device.ErrDeviceLost))
	// Output:
	// <nil>
	// sim: alloc of 1000 bytes on sim:4096, call 2: out of memory
	// sim: alloc of 4000 bytes on sim:4096, which has 3096 of 4096 left: out of memory
	// true
}

// Chunks go to the device, are worked on and come back. On one stream each step
// waits for the one before. On several, chunks are copied while others are
// worked on. The simulated clock shows what that brings.
func Example_doubleBuffering() {
	const chunk, chunks = 1_000_000, 8
	d := sim.New(1 << 30)
	defer d.Close()
	d.Costs(sim.Costs{ToDevice: 1e9, ToHost: 1e9}) // bytes a second: a chunk takes 1 ms
	pinned, err := d.Pinned()
	if err != nil {
		fmt.Println(err)
		return
	}
	for buffers := 1; buffers <= 3; buffers++ {
		from := d.Clock()
		var lanes []lane
		for range buffers {
			lanes = append(lanes, newLane(d, pinned, chunk))
		}
		sum := 0
		for i := range chunks + buffers { // the last ones only wait for what is under way
			l := &lanes[i%buffers]
			sum += l.finish()
			if i < chunks {
				err = errors.Join(err, l.start(byte(i)))
			}
		}
		for _, l := range lanes {
			err = errors.Join(err, l.stream.Close())
		}
		fmt.Printf("buffers %d: %v, sum %d, error %v\n", buffers, d.Clock()-from, sum, err)
	}
	// Output:
	// buffers 1: 24ms, sum 84, error <nil>
	// buffers 2: 13ms, sum 84, error <nil>
	// buffers 3: 10ms, sum 84, error <nil>
}

// A lane is a stream with a chunk of memory on both sides.
type lane struct {
	stream    *sim.Stream
	host, dev device.Block
	back      device.Event // when the chunk has come back
}

func newLane(d *sim.Device, pinned device.Device, size int) (l lane) {
	s, _ := d.NewStream()
	l.stream = s.(*sim.Stream)
	l.host, _ = pinned.Alloc(size)
	l.dev, _ = d.Alloc(size)
	return l
}

// start enqueues a chunk and returns at once.
func (l *lane) start(value byte) (err error) {
	device.Bytes(l.host)[0] = value
	triple := func(args ...[]byte) { args[0][0] *= 3 }
	err = errors.Join(
		l.stream.Copy(l.dev, l.host),
		l.stream.Launch(time.Millisecond, triple, l.dev),
		l.stream.Copy(l.host, l.dev))
	if err == nil {
		l.back, err = l.stream.Record()
	}
	return err
}

// finish waits for the chunk that is under way, if any, and returns its result.
func (l *lane) finish() int {
	if l.back == nil || l.back.Sync() != nil {
		return 0
	}
	l.back = nil
	return int(device.Bytes(l.host)[0])
}

// A late device shows what a program forgets to wait for.
func ExampleDevice_Late() {
	d := sim.New(1 << 20)
	d.Late(1)
	s, _ := d.NewStream()
	b, _ := d.Alloc(1)
	for _, waits := range []bool{false, true} {
		m := []byte{1}
		s.Copy(b, device.Host(m))
		if waits {
			s.Sync()
		}
		m[0] = 2 // too soon, unless the copy is done
		s.Sync()
		d.Copy(device.Host(m), b)
		fmt.Println("on the device:", m[0])
	}
	// Output:
	// on the device: 2
	// on the device: 1
}
