package main

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/bufslab/bufslab/device"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

const devicesHelp = `bufslab devices

Lists the schemes that device.Open knows here, of hardware every device that
there is, with free and total bytes where a device answers. OpenCL's are
known to a command that was built with -tags opencl.
`

// hardware lists the devices of a scheme that may have several, with what they are
// called. Backends that are built in add theirs.
var hardware = map[string]func() (names, notes []string, err error){}

func devices(args []string, stdout, stderr io.Writer) int {
	if code, done := noArguments("devices", args, devicesHelp, stdout, stderr); done {
		return code
	}
	t := table.NewWriter()
	t.AppendHeader(table.Row{"device", "free", "total", ""})
	t.Style().Format.Header = text.FormatDefault
	for _, scheme := range device.Schemes() {
		t.AppendRows(deviceRows(scheme))
	}
	if _, err := fmt.Fprintln(stdout, t.Render()); err != nil {
		return fail(stderr, exitFailed, err)
	}
	return exitOK
}

func deviceRows(scheme string) (rows []table.Row) {
	list := hardware[scheme]
	if list == nil {
		return []table.Row{deviceRow(scheme, "")}
	}
	names, notes, err := list()
	if err != nil {
		return []table.Row{{scheme, "", "", err}}
	}
	for i, name := range names {
		rows = append(rows, deviceRow(name, notes[i]))
	}
	return rows
}

func deviceRow(name, note string) table.Row {
	d, err := device.Open(name)
	if err != nil {
		return table.Row{name, "", "", err}
	}
	free, total, err := d.MemInfo()
	if err = errors.Join(err, d.Close()); err != nil {
		return table.Row{name, "", "", err}
	}
	return table.Row{name, room(free), room(total), note}
}

func room(n int64) string {
	if n == math.MaxInt64 {
		return "no limit"
	}
	return size(n)
}
