package profile

import (
	"compress/gzip"
	"io"
	"runtime"
	"time"
)

// A File is a profile as go tool pprof reads it: the message Profile of profile.proto
// (github.com/google/pprof), in gzip. Numbers below are its field numbers.
type File struct {
	Rate    int64 // bytes between samples
	Time    time.Time
	Comment string
	Hidden  func(runtime.Frame) bool // innermost frames that are not shown
	Records []Record
}

// Write writes the file.
func (f *File) Write(w io.Writer) error {
	e := encoder{numbers: map[any]uint64{}}
	e.string("")
	for _, t := range [...][2]string{{"inuse_objects", "count"}, {"inuse_space", "bytes"}, {"leaked_objects", "count"},
		{"leaked_space", "bytes"}} {
		e.bytes(1, e.valueType(t[0], t[1]))
	}
	for _, r := range f.Records {
		e.bytes(2, e.sample(r, f.Hidden))
	}
	e.bytes(3, mapping())
	e.number(9, uint64(f.Time.UnixNano()))
	e.bytes(11, e.valueType("space", "bytes"))
	e.number(12, uint64(f.Rate))
	e.number(13, e.string(f.Comment))
	e.number(14, e.string("inuse_space"))
	for _, s := range e.strings {
		e.bytes(6, []byte(s))
	}
	z := gzip.NewWriter(w)
	_, err := z.Write(e.message)
	if err != nil {
		return err
	}
	return z.Close()
}

// mapping is the one that all locations are in. It says that functions, files and lines are
// known, so that no one looks for them in the program.
func mapping() (m message) {
	for _, field := range [...]int{1, 7, 8, 9} {
		m.number(field, 1)
	}
	return m
}

// An encoder writes each function, location and string once.
type encoder struct {
	message
	numbers map[any]uint64 // of all three, which are of different types
	strings []string
}

func (e *encoder) string(s string) uint64 {
	n, ok := e.numbers[s]
	if !ok {
		n = uint64(len(e.strings))
		e.numbers[s], e.strings = n, append(e.strings, s)
	}
	return n
}

func (e *encoder) valueType(kind, unit string) (m message) {
	m.number(1, e.string(kind))
	m.number(2, e.string(unit))
	return m
}

func (e *encoder) sample(r Record, hidden func(runtime.Frame) bool) (m message) {
	var at []uint64
	for _, f := range r.Frames(hidden) {
		at = append(at, e.location(location{e.function(function{f.Function, f.File}), f.Line}))
	}
	m.bytes(1, packed(at...))
	m.bytes(2, packed(uint64(r.InUse.Objects()), uint64(r.InUse.Bytes), uint64(r.Leaked.Objects()),
		uint64(r.Leaked.Bytes)))
	return m
}

// Frames returns the frames of a record, without the innermost ones that are hidden.
func (r Record) Frames(hidden func(runtime.Frame) bool) (list []runtime.Frame) {
	if r.Stack == nil {
		return []runtime.Frame{{Function: "(other stacks: too many to tell apart, or without a sample)"}}
	}
	frames := runtime.CallersFrames(r.Stack)
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); len(list) > 0 || !hidden(f) || !more {
			list = append(list, f)
		}
	}
	return list
}

type function struct{ name, file string }

func (e *encoder) function(f function) uint64 {
	id, ok := e.numbers[f]
	if !ok {
		var m message
		id = uint64(len(e.numbers)) + 1 // not 0, and no other's
		e.numbers[f] = id
		m.number(1, id)
		m.number(2, e.string(f.name))
		m.number(3, e.string(f.name))
		m.number(4, e.string(f.file))
		e.bytes(5, m)
	}
	return id
}

type location struct {
	function uint64
	line     int
}

func (e *encoder) location(l location) uint64 {
	id, ok := e.numbers[l]
	if !ok {
		var m, line message
		id = uint64(len(e.numbers)) + 1
		e.numbers[l] = id
		line.number(1, l.function)
		line.number(2, uint64(l.line))
		m.number(1, id)
		m.number(2, 1)
		m.bytes(4, line)
		e.bytes(4, m)
	}
	return id
}
