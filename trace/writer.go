package trace

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bufslab/bufslab/internal/tracefile"
)

// A Writer writes a trace row by row. It does not check what [Reader] checks. Rows go out
// in parts, when there are 64 KiB of them or a second after the first one, so that a program
// that is killed leaves all but the last part; a compressed file has a gzip member for each.
// A Writer is for one goroutine at a time; its zero value is not usable.
type Writer struct {
	extra []string
	keyed bool        // extra has the column key
	timer *time.Timer // writes a part

	mu     sync.Mutex // as the timer has a goroutine of its own
	out    *tracefile.Writer
	buf    []byte // the next part
	err    error  // the first, which every later call returns
	closed bool
}

// NewWriter returns a Writer of the columns op, id and size, and then those of
// extra, which are any of key, stream, thread and time_ns. Close does not close out, which
// another goroutine may write to until then.
func NewWriter(out io.Writer, extra ...string) *Writer {
	return newWriter(tracefile.New(out), extra)
}

// Create makes a file and returns a Writer to it as [NewWriter] does. The file
// is compressed if its name ends in .gz. Close closes it.
func Create(path string, extra ...string) (*Writer, error) {
	if err := checkExtra(extra); err != nil {
		return nil, err
	}
	out, err := tracefile.Create(path, gzip.DefaultCompression)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	return newWriter(out, extra), nil
}

func newWriter(out *tracefile.Writer, extra []string) *Writer {
	w := &Writer{out: out, extra: extra, keyed: slices.Contains(extra, "key")}
	w.timer = time.AfterFunc(tracefile.Every, w.flush)
	if w.err = checkExtra(extra); w.err == nil {
		w.buf = append([]byte(strings.Join(append(slices.Clone(columns[:3]), extra...), ",")), '\n')
	}
	return w
}

func checkExtra(extra []string) error {
	for i, name := range extra {
		if !slices.Contains(columns[3:], name) || slices.Contains(extra[:i], name) {
			return fmt.Errorf("trace: extra column %q, want each once of %s", name, strings.Join(columns[3:], ","))
		}
	}
	return nil
}

// flush writes a part.
func (w *Writer) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flushLocked()
}

func (w *Writer) flushLocked() {
	if w.err == nil && len(w.buf) > 0 {
		_, w.err = w.out.Write(w.buf)
	}
	w.buf = w.buf[:0]
}

// Write writes a row. A Get needs the column key, which has at most 200 bytes.
func (w *Writer) Write(op Op) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return fmt.Errorf("trace: Write after Close: %w", os.ErrClosed)
	}
	if w.err == nil {
		w.refuse(w.check(op))
	}
	if w.err != nil {
		return w.err
	}
	if len(w.buf) == 0 {
		w.timer.Reset(tracefile.Every)
	}
	w.buf = appendRow(w.buf, op, w.extra)
	if len(w.buf) >= tracefile.PartBytes {
		w.flushLocked()
	}
	return w.err
}

// appendRow appends the row of an op with the columns of extra.
func appendRow(row []byte, op Op, extra []string) []byte {
	row = append(row, op.Kind.letter(), ',')
	switch op.Kind {
	case On:
		row, op.Key = append(row, quoted(op.Key)...), ""
	case Get:
	default:
		row = strconv.AppendUint(row, op.ID, 10)
	}
	row = append(row, ',')
	if op.Kind != On {
		row = strconv.AppendInt(row, int64(op.Size), 10)
	}
	for _, name := range extra {
		row = appendColumn(append(row, ','), name, op)
	}
	return append(row, '\n')
}

// refuse keeps an error, if it is one. What is buffered goes out before, as nothing is written later.
func (w *Writer) refuse(err error) {
	if err != nil {
		w.flushLocked()
		w.err = cmp.Or(w.err, err)
	}
}

func (w *Writer) check(op Op) error {
	switch {
	case op.Kind == On && op.Key == "":
		return fmt.Errorf("trace: op d wants the name of a device as its Key: %w", ErrMalformed)
	case op.Kind == On:
		return checkLength(len(op.Key), maxField)
	case w.keyed:
		return checkLength(len(op.Key), maxText)
	case op.Kind == Get:
		return fmt.Errorf("trace: op g needs the column key: %w", ErrMalformed)
	}
	return nil
}

func appendColumn(row []byte, name string, op Op) []byte {
	switch name {
	case "key":
		return append(row, quoted(op.Key)...)
	case "stream":
		return strconv.AppendUint(row, op.Stream, 10)
	case "thread":
		return strconv.AppendUint(row, op.Thread, 10)
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

// Close writes what is buffered and returns the first error of all, also a second time. After it
// Write fails.
func (w *Writer) Close() error {
	w.timer.Stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		w.flushLocked()
		w.err = cmp.Or(w.err, w.out.Close())
	}
	return w.err
}
