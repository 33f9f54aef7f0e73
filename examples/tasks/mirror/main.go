package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"math"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/unified"
)

func main() {
	dev, err := device.Open("sim") // or cuda:0, opencl:0, metal:0
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	a, err := unified.New[float32](dev, 1<<20)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Free()
	stream, err := dev.NewStream()
	if err != nil {
		log.Fatal(err)
	}
	defer stream.Close()

	kernel := func(after string) {
		first, err := read(a, stream)
		if err != nil {
			log.Fatal(err)
		}
		s := dev.(*sim.Device).Stats()
		fmt.Printf("%-21s the kernel reads %3g, %8d bytes went to the device\n", after, first, s.ToDeviceBytes)
	}
	if err := a.CopyFrom(make([]float32, 1<<20)); err != nil {
		log.Fatal(err)
	}
	kernel("all written:")
	kernel("nothing written:")
	part, err := a.HostMutRange(0, 10) // ten elements
	if err != nil {
		log.Fatal(err)
	}
	part[0] = 1.5
	kernel("ten elements written:")
}

// read has a kernel read the first element. On sim a kernel is a function; a driver has its own way to launch one.
func read(a *unified.Buffer[float32], s device.Stream) (first float32, err error) {
	block, err := a.Device() // copies what the device lacks
	if err != nil {
		return 0, err
	}
	err = s.(*sim.Stream).Launch(time.Microsecond, func(args ...[]byte) {
		first = math.Float32frombits(binary.NativeEndian.Uint32(args[0]))
	}, block)
	err = errors.Join(err, s.Sync()) // first is there from here on
	return first, err
}
