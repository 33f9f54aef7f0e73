package pickle

import "fmt"

const stop = '.'

// run executes one opcode, but for stop.
func (d *decoder) run(op byte) error {
	switch {
	case machine[op] != nil:
		return machine[op](d)
	case values[op] == nil:
		return ErrRefused
	}
	v, err := values[op](d)
	if err != nil {
		return err
	}
	return d.push(v)
}

// values are the opcodes that push a value.
var values = [256]func(*decoder) (any, error){
	'N':  func(*decoder) (any, error) { return nil, nil },
	0x88: func(*decoder) (any, error) { return true, nil },
	0x89: func(*decoder) (any, error) { return false, nil },
	'I':  (*decoder).textInt,
	'L':  (*decoder).textLong,
	'F':  (*decoder).textFloat,
	'V':  (*decoder).textString,
	'J':  func(d *decoder) (any, error) { n, err := d.number(4); return int64(int32(n)), err },
	'K':  func(d *decoder) (any, error) { n, err := d.number(1); return int64(n), err },
	'M':  func(d *decoder) (any, error) { n, err := d.number(2); return int64(n), err },
	0x8a: func(d *decoder) (any, error) { return d.long(1) },
	0x8b: func(d *decoder) (any, error) { return d.long(4) },
	'G':  (*decoder).float,
	0x8c: func(d *decoder) (any, error) { return d.counted(1) },
	'X':  func(d *decoder) (any, error) { return d.counted(4) },
	0x8d: func(d *decoder) (any, error) { return d.counted(8) },
	']':  func(d *decoder) (any, error) { return new(List), d.charge(chargeValue) },
	')':  func(d *decoder) (any, error) { return new(List), d.charge(chargeValue) },
	'}':  func(d *decoder) (any, error) { return Dict{}, d.charge(chargeDict) },
	'h':  func(d *decoder) (any, error) { return d.recall(d.number(1)) },
	'j':  func(d *decoder) (any, error) { return d.recall(d.number(4)) },
	'g':  func(d *decoder) (any, error) { return d.recall(d.textIndex()) },
	'2':  (*decoder).top,
	0x85: func(d *decoder) (any, error) { return d.tuple(1) },
	0x86: func(d *decoder) (any, error) { return d.tuple(2) },
	0x87: func(d *decoder) (any, error) { return d.tuple(3) },
	'l':  (*decoder).markedList,
	't':  (*decoder).markedList,
	'd':  (*decoder).markedDict,
}

// machine are the opcodes that push none.
var machine = [256]func(*decoder) error{
	0x80: (*decoder).protocol,
	0x95: func(d *decoder) error { _, err := d.number(8); return err }, // a frame: its size helps nobody here
	'(': func(d *decoder) error {
		d.marks = append(d.marks, len(d.stack))
		return d.charge(chargeValue)
	},
	'0':  (*decoder).popOne,
	'1':  func(d *decoder) error { _, err := d.popMark(); return err },
	'a':  (*decoder).appendOne,
	'e':  (*decoder).appendMarked,
	's':  (*decoder).setOne,
	'u':  (*decoder).setMarked,
	'q':  func(d *decoder) error { return d.remember(d.number(1)) },
	'r':  func(d *decoder) error { return d.remember(d.number(4)) },
	'p':  func(d *decoder) error { return d.remember(d.textIndex()) },
	0x94: func(d *decoder) error { return d.remember(uint64(len(d.memo)), nil) },
}

// refused are the names of opcodes that make more than plain data.
var refused = map[byte]string{
	'c': "GLOBAL", 'R': "REDUCE", 'b': "BUILD", 'i': "INST", 'o': "OBJ", 'P': "PERSID", 'Q': "BINPERSID",
	0x81: "NEWOBJ", 0x92: "NEWOBJ_EX", 0x93: "STACK_GLOBAL", 0x82: "EXT1", 0x83: "EXT2", 0x84: "EXT4",
	0x8f: "EMPTY_SET", 0x90: "ADDITEMS", 0x91: "FROZENSET", 0x97: "NEXT_BUFFER", 0x98: "READONLY_BUFFER",
	'S': "STRING", 'T': "BINSTRING", 'U': "SHORT_BINSTRING",
	'B': "BINBYTES", 'C': "SHORT_BINBYTES", 0x8e: "BINBYTES8", 0x96: "BYTEARRAY8",
}

// name returns the name of an opcode that is refused, or its byte.
func name(op byte) string {
	if text, ok := refused[op]; ok {
		return text
	}
	return fmt.Sprintf("%#02x", op)
}

func (d *decoder) protocol() error {
	n, err := d.number(1)
	if err == nil && n > 5 {
		err = fmt.Errorf("%w: protocol %d, want at most 5", ErrRefused, n)
	}
	return err
}
