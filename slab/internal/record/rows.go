package record

import (
	"slices"
	"strings"
)

// columns are those of the rows.
type columns struct {
	key, on, time bool
	device        string // of all rows, as a row d; "" is none
}

// header returns the first row, and the row of the device.
func (c columns) header() []byte {
	h, d := "op,id,size", "d,"+c.device+","
	for _, more := range []struct {
		has  bool
		name string
	}{{c.key, ",key"}, {c.on, ",thread"}, {c.time, ",time_ns"}} {
		if more.has {
			h, d = h+more.name, d+","
		}
	}
	if c.device != "" {
		h += "\n" + d
	}
	return []byte(h + "\n")
}

// A writer makes rows of events.
type writer struct {
	columns
	rows []byte
	ns   int64  // of the last row
	text []byte // the column of ns: many rows have the same
}

// maxNumbers is the most that the columns but the key have in a row.
const maxNumbers = 2 + 4*(maxDigits+1) + 1

// maxRow is the most that a row has.
const maxRow = maxNumbers + maxKey + 1

// add appends a row. The key of a Free is empty.
func (w *writer) add(e *event, key string) {
	rows := append(slices.Grow(w.rows, maxRow), e.op(), ',')
	rows = appendDecimal(rows, e.id())
	rows = appendDecimal(append(rows, ','), e.bytes())
	if w.key {
		rows = append(append(rows, ','), key...)
	}
	if w.on {
		rows = appendDecimal(append(rows, ','), e.on())
	}
	if w.time {
		rows = append(rows, w.timeOf(e)...)
	}
	w.rows = append(rows, '\n')
}

// timeOf returns the column time_ns, with its comma.
func (w *writer) timeOf(e *event) []byte {
	if e.ns != w.ns || len(w.text) == 0 {
		w.ns = e.ns
		w.text = appendDecimal(append(slices.Grow(w.text[:0], 1+maxDigits), ','), uint64(e.ns))
	}
	return w.text
}

// maxKey is the most bytes of a key that a trace may have.
const maxKey = 200

// maxDevice is the most bytes of a device's name that a trace may have. A longer one is left out.
const maxDevice = 64

// field makes text one field of a row: its end, if it is too long.
func field(text string) string {
	text = strings.NewReplacer(",", "_", "\"", "_", "\n", "_", "\r", "_").Replace(text)
	return strings.TrimSpace(text[max(0, len(text)-maxKey):])
}
