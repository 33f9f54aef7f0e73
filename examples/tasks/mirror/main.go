package main

import (
	"fmt"
	"log"

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

	copied := func(after string) {
		s := dev.(*sim.Device).Stats()
		fmt.Printf("%-34s %8d bytes went to the device\n", after, s.ToDeviceBytes)
	}
	if err := a.CopyFrom(make([]float32, 1<<20)); err != nil {
		log.Fatal(err)
	}
	copied("written on the host:")
	a.Device() // for a kernel that reads
	copied("read on the device:")
	a.Device()
	copied("once more:")
	part, _ := a.HostMutRange(10, 20) // ten elements
	part[0] = 1
	a.Device()
	copied("ten elements written, then read:")
}
