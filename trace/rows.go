package trace

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

const (
	maxRow   = 2000 // bytes of a row, with its newlines
	maxText  = 200  // of a key
	maxField = 64   // of every other field
)

// A scanner cuts text into rows and rows into fields, as RFC 4180 has them. Its fields
// are valid until the next row. What stands behind the last newline is a row that was cut
// short, by a kill as a rule. It may look like a row: a size that has lost digits is a
// size. So it is dropped. A compressed file that was cut short has all rows before that.
type scanner struct {
	from   *bufio.Reader
	fields [][]byte
	row    []byte // one with quotes: it may go on over lines
	line   int    // that the row, or what is wrong with it, begins on
	lines  int    // that were read
	cut    bool   // a last row was dropped
	torn   bool   // a compressed file ends within a member
}

// next reads the next row that is not empty.
func (s *scanner) next() error {
	for {
		s.line = s.lines + 1
		line, err := s.readLine()
		if err != nil {
			return err
		}
		switch text := trimEnd(line); {
		case len(text) == 0:
		case bytes.IndexByte(text, '"') >= 0:
			return s.quoted(line)
		default:
			s.split(text)
			return nil
		}
	}
}

// readLine returns a line with its newline.
func (s *scanner) readLine() ([]byte, error) {
	line, err := s.from.ReadSlice('\n')
	switch {
	case len(line) > maxRow:
		return nil, errLongRow
	case err == io.ErrUnexpectedEOF:
		s.torn = true
		return nil, io.EOF
	case err != nil:
		s.cut = err == io.EOF && len(line) > 0
		return nil, err
	}
	s.lines++
	return line, nil
}

var errLongRow = fmt.Errorf("%w: a row of more than %d bytes", ErrMalformed, maxRow)

func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
}

// split cuts a row without quotes.
func (s *scanner) split(row []byte) {
	s.fields = s.fields[:0]
	begin := 0
	for i, c := range row {
		if c == ',' {
			s.fields = append(s.fields, row[begin:i])
			begin = i + 1
		}
	}
	s.fields = append(s.fields, row[begin:])
}

// quoted reads the lines that a row with quotes goes on over, and cuts it.
func (s *scanner) quoted(line []byte) error {
	s.row = append(s.row[:0], line...)
	for bytes.Count(s.row, []byte{'"'})%2 == 1 {
		line, err := s.readLine()
		if err == io.EOF && !s.cut && !s.torn {
			err = fmt.Errorf("%w: a quote is not closed", ErrMalformed)
		}
		if err != nil {
			return err
		}
		if s.row = append(s.row, line...); len(s.row) > maxRow {
			return errLongRow
		}
	}
	s.fields = s.fields[:0]
	for rest, more := trimEnd(s.row), true; more; {
		var field []byte
		var err error
		if field, rest, more, err = cutField(rest); err != nil {
			return err
		}
		s.fields = append(s.fields, field)
	}
	return nil
}

// cutField cuts the first field off a row. more says that another one follows. A field in
// quotes is unquoted in place.
func cutField(row []byte) (field, rest []byte, more bool, err error) {
	if len(row) == 0 || row[0] != '"' {
		field, rest, more = bytes.Cut(row, []byte{','})
		if bytes.IndexByte(field, '"') >= 0 {
			err = fmt.Errorf("%w: a quote within a field that does not begin with one", ErrMalformed)
		}
		return field, rest, more, err
	}
	n := 0
	for i := 1; i < len(row); i++ {
		if row[i] == '"' {
			if i++; i == len(row) {
				return row[:n], nil, false, nil
			}
			if row[i] == ',' {
				return row[:n], row[i+1:], true, nil
			}
			if row[i] != '"' {
				break
			}
		}
		row[n] = row[i]
		n++
	}
	return nil, nil, false, fmt.Errorf("%w: a quote is followed by neither a comma nor another one", ErrMalformed)
}

// checkLength refuses a field that is too long to be meant.
func checkLength(n, most int) error {
	if n > most {
		return fmt.Errorf("%w: a field of %d bytes, want at most %d", ErrMalformed, n, most)
	}
	return nil
}
