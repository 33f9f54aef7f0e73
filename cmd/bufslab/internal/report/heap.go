package report

import (
	"fmt"
	"strings"

	"github.com/bufslab/bufslab/internal/replaying"
)

// A Map is what lies where in a page heap at the peak.
type Map struct {
	Config  string // that was mapped
	Extents []replaying.Extent
	None    string // why there is no map, else ""
}

// A map has cells of a power of two of bytes, in rows.
const (
	mapColumns = 96
	mostCells  = mapColumns * 48
	leastCell  = 64
)

// A Cells is a drawn Map. A path has all cells of a kind.
type Cells struct {
	Cell  int64 // bytes
	Rows  int
	Kinds []Kind
}

// A Kind is a sort of cell, with the bytes and extents of that sort.
type Kind struct {
	Class, Name    string
	Path           string // of all its cells
	Bytes, Largest int64
	Extents        int
}

// kinds are used, free and decommitted, which have extents, and cells of which a part is used.
func kinds() []Kind {
	return []Kind{{Class: "used", Name: "used"}, {Class: "free", Name: "free"},
		{Class: "decommitted", Name: "decommitted"}, {Class: "partly", Name: "partly used"}}
}

// Cells draws the map.
func (m *Map) Cells() Cells {
	total := int64(0)
	c := Cells{Kinds: kinds()}
	for _, x := range m.Extents {
		k := &c.Kinds[kindOf(x.State)]
		k.Extents++
		k.Bytes += int64(x.Len)
		k.Largest = max(k.Largest, int64(x.Len))
		total += int64(x.Len)
	}
	for c.Cell = leastCell; c.Cell*mostCells < total; {
		c.Cell *= 2
	}
	n := int((total + c.Cell - 1) / c.Cell)
	c.Rows = (n + mapColumns - 1) / mapColumns
	c.draw(m.fill(n, c.Cell))
	return c
}

const (
	used = iota
	free
	decommitted
	partly
)

// kindOf is the kind of an extent. In a replay nothing is lost.
func kindOf(s replaying.State) int {
	switch s {
	case replaying.Free:
		return free
	case replaying.Decommitted:
		return decommitted
	}
	return used
}

// fill returns how many bytes of each kind lie in each cell. Regions follow each other.
func (m *Map) fill(n int, cell int64) [][3]int64 {
	cells := make([][3]int64, n)
	at := int64(0)
	for _, x := range m.Extents {
		for left := int64(x.Len); left > 0; {
			part := min(left, cell-at%cell)
			cells[at/cell][kindOf(x.State)] += part
			at, left = at+part, left-part
		}
	}
	return cells
}

// kindIn is the kind of a cell.
func kindIn(bytes [3]int64) int {
	switch {
	case bytes[used] > 0 && bytes[free]+bytes[decommitted] > bytes[used]/8:
		return partly
	case bytes[used] > 0:
		return used
	case bytes[decommitted] > bytes[free]:
		return decommitted
	}
	return free
}

// draw makes a path of each kind: runs of cells within a row.
func (c *Cells) draw(cells [][3]int64) {
	paths := make([]strings.Builder, len(c.Kinds))
	for i := 0; i < len(cells); {
		kind, end := kindIn(cells[i]), min(len(cells), (i/mapColumns+1)*mapColumns)
		n := 1
		for i+n < end && kindIn(cells[i+n]) == kind {
			n++
		}
		fmt.Fprintf(&paths[kind], "M%d %dh%dv1h-%dz", i%mapColumns, i/mapColumns, n, n)
		i += n
	}
	for kind := range c.Kinds {
		c.Kinds[kind].Path = paths[kind].String()
	}
}
