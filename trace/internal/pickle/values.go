package pickle

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

func (d *decoder) byte() (byte, error) {
	b, err := d.in.ReadByte()
	if err == nil {
		d.offset++
	}
	return b, whole(err)
}

// whole turns the end of the file into an error: a pickle ends with its opcode.
func whole(err error) error {
	if err == io.EOF {
		return fmt.Errorf("%w: %w", ErrBroken, io.ErrUnexpectedEOF)
	}
	return err
}

// number reads an unsigned integer of 1 to 8 bytes.
func (d *decoder) number(width int) (uint64, error) {
	var b [8]byte
	n, err := io.ReadFull(d.in, b[:width])
	d.offset += int64(n)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return binary.LittleEndian.Uint64(b[:]), whole(err)
}

// trusted is the longest text for which memory is taken before it is read. The memory for
// a longer one grows with what is there.
const trusted = 1 << 12

// text reads as many bytes as the number of width bytes before them says.
func (d *decoder) text(width int) ([]byte, error) {
	n, err := d.number(width)
	if err != nil {
		return nil, err
	}
	if err := d.charge(int64(n)); err != nil { // negative from 1<<63 on
		return nil, err
	}
	if n > trusted {
		return d.longText(int64(n))
	}
	b := make([]byte, n)
	read, err := io.ReadFull(d.in, b)
	d.offset += int64(read)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return b, whole(err)
}

func (d *decoder) longText(n int64) ([]byte, error) {
	var b bytes.Buffer
	read, err := io.CopyN(&b, d.in, n)
	d.offset += read
	return b.Bytes(), whole(err)
}

// counted reads a string after its length.
func (d *decoder) counted(width int) (any, error) {
	b, err := d.text(width)
	return string(b), err
}

// long reads an integer after its length: two's complement, lowest byte first.
func (d *decoder) long(width int) (any, error) {
	b, err := d.text(width)
	if err != nil {
		return nil, err
	}
	if len(b) == 0 {
		return int64(0), nil
	}
	fill := byte(0)
	if b[len(b)-1]&0x80 != 0 {
		fill = 0xff
	}
	n := int64(0)
	for i := 7; i >= 0; i-- {
		digit := fill
		if i < len(b) {
			digit = b[i]
		}
		n = n<<8 | int64(digit)
	}
	for _, digit := range b[min(8, len(b)):] {
		if digit != fill {
			return BigInt{}, nil
		}
	}
	if (n < 0) != (fill != 0) {
		return BigInt{}, nil
	}
	return n, nil
}

// float reads the one number that has its highest byte first.
func (d *decoder) float() (any, error) {
	n, err := d.number(8)
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	return math.Float64frombits(binary.BigEndian.Uint64(b[:])), err
}
