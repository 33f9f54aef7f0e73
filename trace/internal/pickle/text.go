package pickle

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// line reads the argument of an opcode of protocol 0.
func (d *decoder) line() (string, error) {
	b, err := d.in.ReadSlice('\n')
	d.offset += int64(len(b))
	switch {
	case err == bufio.ErrBufferFull:
		return "", fmt.Errorf("%w: a line of more than %d bytes", ErrBroken, d.in.Size())
	case err != nil:
		return "", whole(err)
	}
	return string(b[:len(b)-1]), d.charge(int64(len(b)))
}

func (d *decoder) textIndex() (uint64, error) {
	text, err := d.line()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return n, broken(err)
}

// textInt reads an int, or a bool: those have two digits.
func (d *decoder) textInt() (any, error) {
	text, err := d.line()
	switch {
	case err != nil:
		return nil, err
	case text == "00" || text == "01":
		return text == "01", nil
	}
	return parseInt(text)
}

func (d *decoder) textLong() (any, error) {
	text, err := d.line()
	if err != nil {
		return nil, err
	}
	return parseInt(strings.TrimSuffix(text, "L"))
}

func parseInt(text string) (any, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return BigInt{}, nil
	}
	return n, broken(err)
}

func (d *decoder) textFloat() (any, error) {
	text, err := d.line()
	if err != nil {
		return nil, err
	}
	x, err := strconv.ParseFloat(text, 64)
	if errors.Is(err, strconv.ErrRange) {
		err = nil // x is infinite then
	}
	return x, broken(err)
}

// textString reads a string of Latin-1, whose backslashes stand before the hexadecimal
// digits of another rune.
func (d *decoder) textString() (any, error) {
	text, err := d.line()
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	for len(text) > 0 {
		r, n, err := firstRune(text)
		if err != nil {
			return nil, broken(err)
		}
		out.WriteRune(r)
		text = text[n:]
	}
	return out.String(), nil
}

// firstRune returns the first rune of text and how many bytes stand for it.
func firstRune(text string) (r rune, bytes int, err error) {
	switch {
	case strings.HasPrefix(text, `\u`):
		bytes = 6
	case strings.HasPrefix(text, `\U`):
		bytes = 10
	default:
		return rune(text[0]), 1, nil
	}
	if len(text) < bytes {
		return 0, 0, io.ErrUnexpectedEOF
	}
	n, err := strconv.ParseUint(text[2:bytes], 16, 32)
	return rune(n), bytes, err
}

func broken(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrBroken, err)
}
