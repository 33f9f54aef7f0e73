package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// A line is the result of a replay, of either kind.
type line interface {
	cells() table.Row
	fault() error
}

// A printer shows lines. The error of close is the first of all.
type printer interface {
	print(line)
	close() error
}

// jsonLines prints an object a line, as soon as it is known.
type jsonLines struct {
	e   *json.Encoder
	err error
}

func newJSON(w io.Writer) *jsonLines {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return &jsonLines{e: e}
}

func (j *jsonLines) print(r line) {
	if err := j.e.Encode(r); j.err == nil {
		j.err = err
	}
}

func (j *jsonLines) close() error { return j.err }

// A tables prints all lines at the end, when the widths of the columns are
// known: those of allocations, then those of keyed traces; and which line to use.
type tables struct {
	w            io.Writer
	plain, keyed *grid
	rows         []row
}

type grid struct {
	t    table.Writer
	rows int
}

func newTables(w io.Writer) *tables {
	return &tables{w: w,
		plain: newGrid("trace", "config", "allocs", "peak live", "peak managed", "footprint", "upstream", "miss %",
			"leaked", "ns/op"),
		keyed: newGrid("trace", "config", "growth", "requests", "keys", "misses", "grows", "hit %", "held",
			"transient peak", "ns/op"),
	}
}

// newGrid returns an empty table whose columns are numbers, but for the names at the left.
func newGrid(header ...any) *grid {
	t := table.NewWriter()
	t.AppendHeader(header)
	t.Style().Format.Header = text.FormatDefault
	var right []table.ColumnConfig
	for i, name := range header {
		if name != "trace" && name != "config" && name != "growth" {
			right = append(right, table.ColumnConfig{Number: i + 1, Align: text.AlignRight,
				AlignHeader: text.AlignRight})
		}
	}
	t.SetColumnConfigs(right)
	return &grid{t: t}
}

func (t *tables) print(r line) {
	g := t.keyed
	if r, ok := r.(row); ok {
		g = t.plain
		t.rows = append(t.rows, r)
	}
	g.rows++
	g.t.AppendRow(r.cells())
}

func (t *tables) close() error {
	for _, g := range []*grid{t.plain, t.keyed} {
		if g.rows == 0 {
			continue
		}
		if _, err := fmt.Fprintln(t.w, g.t.Render()); err != nil {
			return err
		}
	}
	if text := advice(t.rows); text != "" {
		_, err := fmt.Fprintln(t.w, text)
		return err
	}
	return nil
}
