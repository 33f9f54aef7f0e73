package trace

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A Writer writes a trace row by row. It does not check what [Reader] checks.
// A Writer is for one goroutine at a time; its zero value is not usable.
type Writer struct {
	w       *bufio.Writer
	closers []io.Closer // innermost first
	extra   []string
	row     []byte
	err     error // the first; a Writer that failed stays failed
}

// NewWriter returns a Writer of the columns op, id and size, then those of
// extra, out of key, stream and time_ns. Close does not close w.
func NewWriter(w io.Writer, extra ...string) *Writer {
	t := &Writer{w: bufio.NewWriterSize(w, 1<<16), extra: extra}
	for i, name := range extra {
		if !slices.Contains(columns[3:], name) || slices.Contains(extra[:i], name) {
			t.err = fmt.Errorf("trace: extra column %q, want each once of %s", name, strings.Join(columns[3:], ","))
			return t
		}
	}
	_, t.err = fmt.Fprintln(t.w, strings.Join(append(slices.Clone(columns[:3]), extra...), ","))
	return t
}

// Create makes a file and returns a Writer to it as [NewWriter] does. The file
// is compressed if its name ends in .gz. Close closes it.
func Create(path string, extra ...string) (*Writer, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	if !strings.HasSuffix(path, ".gz") {
		t := NewWriter(f, extra...)
		t.closers = []io.Closer{f}
		return t, t.err
	}
	z := gzip.NewWriter(f)
	t := NewWriter(z, extra...)
	t.closers = []io.Closer{z, f}
	return t, t.err
}

// Write writes a row. A Get needs the column key.
func (t *Writer) Write(op Op) error {
	if op.Kind == Get && t.err == nil && !slices.Contains(t.extra, "key") {
		t.err = fmt.Errorf("trace: op g needs the column key: %w", ErrMalformed)
	}
	if t.err != nil {
		return t.err
	}
	t.row = append(t.row[:0], byte(op.Kind), ',')
	if op.Kind != Get {
		t.row = strconv.AppendUint(t.row, op.ID, 10)
	}
	t.row = append(t.row, ',')
	t.row = strconv.AppendInt(t.row, int64(op.Size), 10)
	for _, name := range t.extra {
		t.row = appendColumn(append(t.row, ','), name, op)
	}
	_, t.err = t.w.Write(append(t.row, '\n'))
	return t.err
}

func appendColumn(row []byte, name string, op Op) []byte {
	switch name {
	case "key":
		return append(row, quoted(op.Key)...)
	case "stream":
		return strconv.AppendUint(row, op.Stream, 10)
	}
	return strconv.AppendInt(row, op.TimeNS, 10)
}

// quoted makes any key one CSV field.
func quoted(key string) string {
	if !strings.ContainsAny(key, ",\"\r\n") && strings.TrimSpace(key) == key {
		return key
	}
	return `"` + strings.ReplaceAll(key, `"`, `""`) + `"`
}

// Close writes what is buffered and returns the first error of all.
func (t *Writer) Close() error {
	errs := []error{t.err}
	if t.err == nil {
		errs = append(errs, t.w.Flush())
	}
	for _, c := range t.closers {
		errs = append(errs, c.Close())
	}
	t.closers = nil
	t.err = errors.Join(errs...)
	return t.err
}
