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
	buf     *bufio.Writer
	closers []io.Closer // innermost first
	extra   []string
	row     []byte
	err     error // the first, which every later call returns
}

// NewWriter returns a Writer of the columns op, id and size, and then those of
// extra, which are any of key, stream and time_ns. Close does not close out.
func NewWriter(out io.Writer, extra ...string) *Writer {
	w := &Writer{buf: bufio.NewWriterSize(out, 1<<16), extra: extra}
	for i, name := range extra {
		if !slices.Contains(columns[3:], name) || slices.Contains(extra[:i], name) {
			w.err = fmt.Errorf("trace: extra column %q, want each once of %s", name, strings.Join(columns[3:], ","))
			return w
		}
	}
	_, w.err = fmt.Fprintln(w.buf, strings.Join(append(slices.Clone(columns[:3]), extra...), ","))
	return w
}

// Create makes a file and returns a Writer to it as [NewWriter] does. The file
// is compressed if its name ends in .gz. Close closes it.
func Create(path string, extra ...string) (*Writer, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	if !strings.HasSuffix(path, ".gz") {
		w := NewWriter(f, extra...)
		w.closers = []io.Closer{f}
		return w, w.err
	}
	z := gzip.NewWriter(f)
	w := NewWriter(z, extra...)
	w.closers = []io.Closer{z, f}
	return w, w.err
}

// Write writes a row. A Get needs the column key, which has at most 200 bytes.
func (w *Writer) Write(op Op) error {
	if op.Kind == Get && w.err == nil && !slices.Contains(w.extra, "key") {
		w.err = fmt.Errorf("trace: op g needs the column key: %w", ErrMalformed)
	}
	if w.err == nil && slices.Contains(w.extra, "key") {
		w.err = checkLength(op.Key, maxText)
	}
	if w.err != nil {
		return w.err
	}
	w.row = append(w.row[:0], byte(op.Kind), ',')
	if op.Kind != Get {
		w.row = strconv.AppendUint(w.row, op.ID, 10)
	}
	w.row = append(w.row, ',')
	w.row = strconv.AppendInt(w.row, int64(op.Size), 10)
	for _, name := range w.extra {
		w.row = appendColumn(append(w.row, ','), name, op)
	}
	_, w.err = w.buf.Write(append(w.row, '\n'))
	return w.err
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

// quoted returns key as one CSV field.
func quoted(key string) string {
	if !strings.ContainsAny(key, ",\"\r\n") && strings.TrimSpace(key) == key {
		return key
	}
	return `"` + strings.ReplaceAll(key, `"`, `""`) + `"`
}

// Close writes what is buffered and returns the first error of all.
func (w *Writer) Close() error {
	errs := []error{w.err}
	if w.err == nil {
		errs = append(errs, w.buf.Flush())
	}
	for _, c := range w.closers {
		errs = append(errs, c.Close())
	}
	w.closers = nil
	w.err = errors.Join(errs...)
	return w.err
}
