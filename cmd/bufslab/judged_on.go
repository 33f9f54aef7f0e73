package main

import (
	"fmt"
	"strings"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/trace"
)

// A footprint is that of a device: on the Go heap no region can be extended, the default strategy is another one,
// and idle memory goes back. So what tune and verify promise is judged on the device of the recording.

// judgedOn adds the device of the traces to a line that names none. Where it cannot, the line is as it was, which is
// device=virtual, and why says the reason. It fails if the traces are of several devices.
func judgedOn(line string, traces []*trace.Trace) (judged, why string, err error) {
	if onVirtual(line) == strings.TrimSpace(line) {
		return line, "", nil
	}
	first := traces[0]
	for _, t := range traces[1:] {
		if t.Device != first.Device {
			return line, "", fmt.Errorf("%s is of %s, %s of %s: name the device in the line",
				first.Name, deviceOf(first), t.Name, deviceOf(t))
		}
	}
	if first.Device == "" {
		return line, first.Name + " does not name its device, so this is judged on device=virtual. Name yours in the line.", nil
	}
	if err := opens(first.Device); err != nil {
		why = fmt.Sprintf("%s is of %s, which is not here (%v), so this is judged on device=virtual.",
			first.Name, deviceOf(first), err)
		return line, why, nil
	}
	return onDevice(first.Device, line), "", nil
}

func deviceOf(t *trace.Trace) string {
	if t.Device == "" {
		return "an unknown device"
	}
	return "device=" + t.Device
}

// opens reports whether this machine has a device.
func opens(name string) error {
	d, err := device.Open(name)
	if err == nil {
		err = d.Close()
	}
	return err
}
