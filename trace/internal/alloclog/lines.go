package alloclog

import (
	"bufio"
	"bytes"
	"io"
)

// A parser knows the lines of one format. ok is false of a line that is none of them.
type parser interface {
	event(line []byte, at int) (e Event, ok bool, err error)
	// end is called again and again after the last line, until its Kind is 0.
	end() Event
}

func openLines(in *bufio.Reader, f Format, p parser) *Log {
	lines := &lineReader{in: in}
	return &Log{Format: f, lines: lines, next: func() (Event, error) { return nextOf(lines, p) }}
}

func nextOf(lines *lineReader, p parser) (Event, error) {
	line, err := lines.next()
	if err == io.EOF {
		if e := p.end(); e.Kind != 0 {
			return e, nil
		}
	}
	if err != nil || len(line) == 0 {
		return Event{}, err
	}
	e, ok, err := p.event(line, lines.number)
	if !ok {
		e.Kind = Skipped
	}
	e.At = lines.number
	return e, err
}

// A lineReader reads lines without what ends them. For a line that does not fit its buffer
// it returns tooLong: no event is as long. What stands behind the last newline was
// cut short and may look like another event, so it is dropped.
type lineReader struct {
	in     *bufio.Reader
	number int // of the last line, from 1
	cut    bool
}

var tooLong = []byte("a line that is too long")

func (r *lineReader) next() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		for err == bufio.ErrBufferFull {
			_, err = r.in.ReadSlice('\n')
		}
		line = tooLong
	}
	if err != nil {
		r.cut = err == io.EOF && len(line) > 0
		return nil, err
	}
	r.number++
	return bytes.TrimRight(line, "\r\n"), nil
}
