// Package pickle reads pickles, Python's serialized objects, without running
// anything. It knows the opcodes of plain data only: None, bool, int, float, str,
// list, tuple, dict and the memo, of protocols 0 to 5. Every other opcode names a class,
// calls one or asks a hook for an object. Decode refuses it by name and offset.
package pickle

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// What a pickle decodes to: nil, bool, int64, float64, string, [BigInt], *[List] or
// [Dict]. A container may hold itself.
type (
	// A List is a list or a tuple.
	List struct{ Items []any }
	// A Dict has the values of a dict by key. A key that is a tuple only equals itself.
	Dict map[any]any
	// A BigInt stands for an integer that no int64 holds.
	BigInt struct{}
)

// ErrRefused says that a pickle holds more than plain data.
var ErrRefused = errors.New("not plain data")

// ErrBroken says that bytes are no pickle, or not a whole one.
var ErrBroken = errors.New("broken pickle")

// ErrBudget says that a pickle takes more memory than the caller granted.
var ErrBudget = errors.New("too large")

// What values are charged for, in bytes: about what Go takes for them.
const (
	chargeValue = 32  // a slot of the stack, until it is popped, or of a list, and what is boxed
	chargeDict  = 320 // with its first smallDict items
	chargeItem  = 128 // any other item of a dict
	chargeMemo  = 64
	smallDict   = 8
)

// Decode reads one pickle. Everything that it keeps counts towards budget, in bytes,
// so what a pickle takes does not depend on what it claims.
func Decode(r io.Reader, budget int64) (any, error) {
	d := decoder{in: bufio.NewReaderSize(r, 1<<16), budget: budget, memo: make(map[uint64]any)}
	for {
		at := d.offset
		op, err := d.byte()
		switch {
		case err != nil:
			return nil, fmt.Errorf("byte %d: %w", at, err)
		case op == stop:
			return d.pop()
		}
		if err := d.run(op); err != nil {
			return nil, fmt.Errorf("byte %d: opcode %s: %w", at, name(op), err)
		}
	}
}

// A decoder is the stack machine that a pickle is a program for.
type decoder struct {
	in     *bufio.Reader
	offset int64 // of the next byte
	budget int64 // bytes that are left
	stack  []any
	marks  []int // heights of the stack
	memo   map[uint64]any
}

// charge takes n bytes from the budget before they are used.
func (d *decoder) charge(n int64) error {
	if n < 0 || n > d.budget {
		return ErrBudget
	}
	d.budget -= n
	return nil
}

func (d *decoder) push(v any) error {
	d.stack = append(d.stack, v)
	return d.charge(chargeValue)
}

// floor is the height below which the stack belongs to an earlier mark.
func (d *decoder) floor() int {
	if len(d.marks) == 0 {
		return 0
	}
	return d.marks[len(d.marks)-1]
}

func (d *decoder) pop() (any, error) {
	v, err := d.top()
	if err == nil {
		d.drop(len(d.stack) - 1)
	}
	return v, err
}

func (d *decoder) top() (any, error) {
	if len(d.stack) <= d.floor() {
		return nil, fmt.Errorf("%w: the stack is empty", ErrBroken)
	}
	return d.stack[len(d.stack)-1], nil
}

// popMark returns what was pushed since the last mark. It is part of the stack, and
// valid until the next push.
func (d *decoder) popMark() ([]any, error) {
	if len(d.marks) == 0 {
		return nil, fmt.Errorf("%w: no mark", ErrBroken)
	}
	from := d.floor()
	d.marks = d.marks[:len(d.marks)-1]
	d.budget += chargeValue
	items := d.stack[from:]
	d.drop(from)
	return items, nil
}

// popOne pops a value, or a mark on which there is none.
func (d *decoder) popOne() error {
	if len(d.marks) > 0 && len(d.stack) == d.floor() {
		_, err := d.popMark()
		return err
	}
	_, err := d.pop()
	return err
}

// drop lowers the stack and gives back what its slots were charged for.
func (d *decoder) drop(height int) {
	d.budget += int64(len(d.stack)-height) * chargeValue
	d.stack = d.stack[:height]
}
