package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"

	"github.com/bufslab/bufslab/device"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

const devicesHelp = `bufslab devices

Lists the schemes that device.Open knows here and, where a device answers to
the bare scheme, its free and total bytes.
`

func devices(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bufslab devices", flag.ContinueOnError)
	if code, done := parse(flags, args, devicesHelp, stdout, stderr); done {
		return code
	}
	if flags.NArg() > 0 {
		return fail(stderr, exitBad, fmt.Errorf("devices takes no arguments, not %q", flags.Args()))
	}
	t := table.NewWriter()
	t.AppendHeader(table.Row{"device", "free", "total", ""})
	t.Style().Format.Header = text.FormatDefault
	for _, scheme := range device.Schemes() {
		t.AppendRow(deviceRow(scheme))
	}
	if _, err := fmt.Fprintln(stdout, t.Render()); err != nil {
		return fail(stderr, exitFailed, err)
	}
	return exitOK
}

func deviceRow(scheme string) table.Row {
	d, err := device.Open(scheme)
	if err != nil {
		return table.Row{scheme, "", "", err}
	}
	free, total, err := d.MemInfo()
	if err = errors.Join(err, d.Close()); err != nil {
		return table.Row{scheme, "", "", err}
	}
	return table.Row{scheme, room(free), room(total), ""}
}

func room(n int64) string {
	if n == math.MaxInt64 {
		return "no limit"
	}
	return size(n)
}
