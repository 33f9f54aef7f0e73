package profile

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// fields reads a message, by number of the field: numbers as they are, all else as bytes.
func fields(t *testing.T, m []byte) (numbers map[uint64][]uint64, texts map[uint64][][]byte) {
	t.Helper()
	numbers, texts = map[uint64][]uint64{}, map[uint64][][]byte{}
	next := func() uint64 {
		v, n := binary.Uvarint(m)
		if n <= 0 {
			t.Fatalf("no number in %x", m)
		}
		m = m[n:]
		return v
	}
	for len(m) > 0 {
		switch key := next(); key & 7 {
		case 0:
			numbers[key>>3] = append(numbers[key>>3], next())
		case 2:
			n := next()
			if n > uint64(len(m)) {
				t.Fatalf("field %d of %d bytes, in %d", key>>3, n, len(m))
			}
			texts[key>>3] = append(texts[key>>3], m[:n])
			m = m[n:]
		default:
			t.Fatalf("field %d is of type %d", key>>3, key&7)
		}
	}
	return numbers, texts
}

// list reads numbers that are packed in one field.
func list(t *testing.T, m []byte) (all []uint64) {
	t.Helper()
	for len(m) > 0 {
		v, n := binary.Uvarint(m)
		if n <= 0 {
			t.Fatalf("no number in %x", m)
		}
		all, m = append(all, v), m[n:]
	}
	return all
}

// A reader reads what an encoder wrote, by the field numbers of profile.proto.
type reader struct {
	t                    *testing.T
	numbers              map[uint64][]uint64
	texts                map[uint64][][]byte
	functions, locations map[uint64]string // by id
}

func (r *reader) text(at uint64) string { return string(r.texts[6][at]) }

// pair reads a ValueType.
func (r *reader) pair(m []byte) string {
	n, _ := fields(r.t, m)
	return r.text(n[1][0]) + "/" + r.text(n[2][0])
}

// once enters what has an id. Each id and each name is to be there once.
func (r *reader) once(to map[uint64]string, id uint64, name string) {
	if was, ok := to[id]; ok || id == 0 {
		r.t.Errorf("id %d is of %q and of %q", id, was, name)
	}
	for _, was := range to {
		if was == name {
			r.t.Errorf("%q is there twice", name)
		}
	}
	to[id] = name
}

func read(t *testing.T, f *File) *reader {
	t.Helper()
	var file bytes.Buffer
	if err := f.Write(&file); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, functions: map[uint64]string{}, locations: map[uint64]string{}}
	r.numbers, r.texts = fields(t, m)
	for _, m := range r.texts[5] {
		n, _ := fields(t, m)
		if n[2][0] != n[3][0] {
			t.Errorf("the system's name is %q", r.text(n[3][0]))
		}
		r.once(r.functions, n[1][0], r.text(n[2][0])+" "+r.text(n[4][0]))
	}
	for _, m := range r.texts[4] {
		n, lines := fields(t, m)
		line, _ := fields(t, lines[4][0])
		name, ok := r.functions[line[1][0]]
		if !ok || n[2][0] != 1 {
			t.Errorf("no function %d, or mapping %d", line[1][0], n[2][0])
		}
		r.once(r.locations, n[1][0], fmt.Sprintf("%s:%d", name, line[2][0]))
	}
	return r
}

// A file has what profile.proto says of each field: the four figures of each sample with its frames, each function and
// location once, and how the samples were taken.
func TestAFileIsAsPprofReadsIt(t *testing.T) {
	var stacks [2]Stack
	for i := range stacks {
		runtime.Callers(1, stacks[i][:])
	}
	f := &File{Rate: 1 << 19, Time: time.Unix(1, 2), Comment: "of a test", Hidden: func(runtime.Frame) bool { return false }}
	for i, s := range append(stacks[:], Stack{}) {
		r := Record{Usage: Usage{InUse: Amount{int64(300+i) * oneObject, int64(3000 + i)}, Leaked: Amount{int64(10+i) * oneObject, int64(1000 + i)}}}
		if s != (Stack{}) {
			r.Stack = s.counters()
		}
		f.Records = append(f.Records, r)
	}
	r := read(t, f)
	var types []string
	for _, m := range r.texts[1] {
		types = append(types, r.pair(m))
	}
	if got := strings.Join(types, " "); got != "inuse_objects/count inuse_space/bytes leaked_objects/count leaked_space/bytes" {
		t.Errorf("figures of samples: %s", got)
	}
	for i, m := range r.texts[2] {
		_, s := fields(t, m)
		var got, want []string
		for _, id := range list(t, s[1][0]) {
			got = append(got, r.locations[id])
		}
		for _, f := range f.Records[i].Frames(f.Hidden) {
			want = append(want, fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line))
		}
		n := uint64(i)
		if !slices.Equal(got, want) || !slices.Equal(list(t, s[2][0]), []uint64{300 + n, 3000 + n, 10 + n, 1000 + n}) {
			t.Errorf("sample %d: %d at %q, want %q", i, list(t, s[2][0]), got, want)
		}
	}
	if len(r.texts[2]) != len(f.Records) {
		t.Errorf("%d samples", len(r.texts[2]))
	}
	mapping, _ := fields(t, r.texts[3][0])
	for _, has := range []uint64{1, 7, 8, 9} { // its id, and that functions, files and lines are known
		if len(r.texts[3]) != 1 || !slices.Equal(mapping[has], []uint64{1}) {
			t.Errorf("field %d of %d mappings is %d", has, len(r.texts[3]), mapping[has])
		}
	}
	n := r.numbers
	if r.text(0) != "" || n[9][0] != 1e9+2 || n[12][0] != 1<<19 || r.text(n[13][0]) != "of a test" || r.text(n[14][0]) != "inuse_space" {
		t.Errorf("%d, texts %q", n, r.texts[6])
	}
	if period := r.pair(r.texts[11][0]); period != "space/bytes" {
		t.Errorf("the rate is of %s", period)
	}
}

// An error of the writer is told, whether it comes with the first byte or with the last.
func TestWriteTellsErrors(t *testing.T) {
	var all bytes.Buffer
	f := &File{Hidden: func(runtime.Frame) bool { return false }}
	if err := f.Write(&all); err != nil {
		t.Fatal(err)
	}
	for _, room := range []int{0, all.Len() - 1} {
		if err := f.Write(&full{room}); err != io.ErrShortWrite {
			t.Errorf("room for %d of %d bytes: %v", room, all.Len(), err)
		}
	}
}

// full is a file with room for a number of bytes.
type full struct{ room int }

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}
