// Package alloclog reads the logs in which other allocators record what they do. It
// turns each into events and leaves it to its caller to match frees with allocations.
package alloclog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// A Kind says what an [Event] reports.
type Kind byte

// The kinds of events. The zero Kind is of no interest to anybody.
const (
	Alloc   Kind = iota + 1
	Free         // its size is -1 where the log has none
	Realloc      // of Old to Pointer and Size; it may leave out the pool
	Failed       // an allocation
	Skipped      // something that is no event, or of an unknown kind
)

// An Event is what a log says about one pointer.
type Event struct {
	Kind         Kind
	Space        uint64 // two events mean the same memory if both Space and Pointer agree
	Pool         string // the device or allocator, "" where the log has but one
	Pointer, Old uint64
	Size         int
	Stream       uint64
	Thread       uint64
	TimeNS       int64 // since the first event
	At           int   // the number of the line or event, from 1; 0 where it is unknown
}

// A Format is what a log was recognized as.
type Format struct {
	Name    string
	Unit    string   // of what Event.At counts
	Columns []string // which of key (the pool), stream, thread and time_ns the log tells
}

// A Log is one that is being read.
type Log struct {
	Format
	Notes []string // on the whole log
	next  func() (Event, error)
	lines *lineReader // nil for a pickle
}

// ErrLog says that a log is unknown, broken, or has what is not safe to read.
var ErrLog = errors.New("log cannot be imported")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrLog}, args...)...)
}

const known = "known are RMM logs, PyTorch memory snapshots, Umpire replays and what CuPy's DebugPrintHook prints"

// Open recognizes a log by what stands in the first buffer of in.
func Open(in *bufio.Reader) (*Log, error) {
	start, err := in.Peek(in.Size())
	first, _, _ := bytes.Cut(start, []byte{'\n'})
	switch {
	case isPickle(start):
		return openTorch(in)
	case isRMM(first):
		return openLines(in, rmmFormat, &rmm{}), nil
	}
	for line := range bytes.Lines(start) {
		for _, f := range jsonFormats {
			if _, ok, _ := f.open().event(line, 0); ok && !comment(line) {
				return openLines(in, f.Format, f.open()), nil
			}
		}
	}
	if err != nil && err != io.EOF {
		return nil, err // there would have been more to recognize it by
	}
	return nil, malformed("it begins like no log that is known; %s", known)
}

// Next returns the next event, and io.EOF at the end.
func (l *Log) Next() (Event, error) {
	for {
		e, err := l.next()
		if err != nil || e.Kind != 0 {
			return e, err
		}
	}
}

// Line returns the number of the line that was read last, 0 in a pickle.
func (l *Log) Line() int {
	if l.lines == nil {
		return 0
	}
	return l.lines.number
}

// Cut reports whether a last line was dropped because it has no newline.
func (l *Log) Cut() bool { return l.lines != nil && l.lines.cut }
