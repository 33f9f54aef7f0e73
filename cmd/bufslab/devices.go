package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/bufslab/bufslab/device"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

const devicesHelp = `bufslab devices [-json]

Lists the schemes that device.Open knows here, of hardware every device that
there is, with free and total bytes where a device answers. OpenCL's are
known to a command that was built with -tags opencl, a Mac's with -tags metal.

	-json    an object a line: device, free_bytes and total_bytes, which are left out
	         where there is no limit, note and error
`

// hardware lists the devices of a scheme that may have several, each as it describes itself: "opencl:0: a GPU".
// Backends that are built in add theirs.
var hardware = map[string]func() ([]string, error){}

// A place is where memory can live.
type place struct {
	Name  string `json:"device"`
	Free  *int64 `json:"free_bytes,omitempty"` // nil is no limit
	Total *int64 `json:"total_bytes,omitempty"`
	Note  string `json:"note,omitempty"`
	Error string `json:"error,omitempty"` // then nothing else is known
}

func devices(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bufslab devices", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "")
	if code, done := noArguments(flags, args, devicesHelp, stdout, stderr); done {
		return code
	}
	var all []place
	for _, scheme := range device.Schemes() {
		all = append(all, placesOf(scheme)...)
	}
	write := writePlaces
	if *asJSON {
		write = writePlacesJSON
	}
	if err := write(stdout, all); err != nil {
		return fail(stderr, exitFailed, err)
	}
	return exitOK
}

func writePlacesJSON(w io.Writer, all []place) error {
	out := json.NewEncoder(w)
	for _, p := range all {
		if err := out.Encode(p); err != nil {
			return err
		}
	}
	return nil
}

func writePlaces(w io.Writer, all []place) error {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"device", "free", "total", ""})
	t.Style().Format.Header = text.FormatDefault
	for _, p := range all {
		if p.Error != "" {
			t.AppendRow(table.Row{p.Name, "", "", p.Error})
			continue
		}
		t.AppendRow(table.Row{p.Name, room(p.Free), room(p.Total), p.Note})
	}
	_, err := fmt.Fprintln(w, t.Render())
	return err
}

func placesOf(scheme string) (all []place) {
	list := hardware[scheme]
	if list == nil {
		return []place{placeOf(scheme, "")}
	}
	lines, err := list()
	if err != nil {
		return []place{{Name: scheme, Error: err.Error()}}
	}
	for _, line := range lines {
		name, note, _ := strings.Cut(line, ": ")
		all = append(all, placeOf(name, note))
	}
	return all
}

func placeOf(name, note string) place {
	d, err := device.Open(name)
	if err != nil {
		return place{Name: name, Error: err.Error()}
	}
	free, total, err := d.MemInfo()
	if err = errors.Join(err, d.Close()); err != nil {
		return place{Name: name, Error: err.Error()}
	}
	return place{Name: name, Free: limited(free), Total: limited(total), Note: note}
}

// limited returns nil for what MemInfo says where there is no limit.
func limited(n int64) *int64 {
	if n == math.MaxInt64 {
		return nil
	}
	return &n
}

func room(n *int64) string {
	if n == nil {
		return "no limit"
	}
	return size(*n)
}
