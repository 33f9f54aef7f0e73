package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// A printer shows rows. The error of close is the first of all.
type printer interface {
	print(row)
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

func (j *jsonLines) print(r row) {
	if err := j.e.Encode(r); j.err == nil {
		j.err = err
	}
}

func (j *jsonLines) close() error { return j.err }

// A grid prints all rows at the end, when the widths of the columns are known.
type grid struct {
	w    io.Writer
	t    table.Writer
	rows int
}

func newTable(w io.Writer) *grid {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"trace", "config", "allocs", "peak live", "peak managed", "footprint", "upstream", "miss %", "ns/op"})
	t.Style().Format.Header = text.FormatDefault
	var right []table.ColumnConfig
	for column := 3; column <= 9; column++ {
		right = append(right, table.ColumnConfig{Number: column, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	return &grid{w: w, t: t}
}

func (g *grid) print(r row) {
	g.rows++
	g.t.AppendRow(table.Row{
		shortName(r.Trace), r.Config, humanize.Comma(r.Allocs), size(r.PeakLiveBytes), size(r.PeakManagedBytes),
		fmt.Sprintf("%.3f", r.FootprintRatio), humanize.Comma(r.UpstreamAllocs),
		fmt.Sprintf("%.2f", 100*r.MissRatio), fmt.Sprintf("%.0f", r.NsPerOp),
	})
}

func (g *grid) close() error {
	if g.rows == 0 {
		return nil
	}
	_, err := fmt.Fprintln(g.w, g.t.Render())
	return err
}

func size(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

// shortName is what tells one trace from another.
func shortName(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".csv")
}
