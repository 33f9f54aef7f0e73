package trace

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestWriterWritesWhatReaderReads(t *testing.T) {
	all := []Op{
		{Kind: Alloc, ID: 0, Size: 100, Key: "plain", Stream: 1, Thread: 8, TimeNS: 5},
		{Kind: Alloc, ID: 18446744073709551615, Size: 0, Key: " a,\"b\"\nc", Stream: 2, TimeNS: 6},
		{Kind: Free, ID: 0, Size: 100, TimeNS: 7},
	}
	for _, extra := range [][]string{nil, {"key"}, {"time_ns", "thread", "stream", "key"}} {
		var b bytes.Buffer
		w := NewWriter(&b, extra...)
		for _, op := range all {
			if err := w.Write(op); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := ops(b.String())
		if err != nil || len(got) != len(all) {
			t.Fatalf("%v: %v, %v", extra, got, err)
		}
		for i, op := range all {
			if len(extra) < 4 {
				op.Stream, op.Thread, op.TimeNS = 0, 0, 0
			}
			if len(extra) < 1 {
				op.Key = ""
			}
			if got[i] != op {
				t.Errorf("%v: %+v, want %+v", extra, got[i], op)
			}
		}
	}
}

func TestWriterWritesKeyedTraces(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b, "key")
	var want []Op
	for _, key := range []string{"k", "k,1", `k"1`, `"`, "k\n1", " k"} {
		want = append(want, Op{Kind: Get, Size: 9, Key: key})
	}
	for _, op := range want {
		if err := w.Write(op); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := ops(b.String()); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v of %q", got, err, &b)
	}
	if err := NewWriter(&b).Write(want[0]); !errors.Is(err, ErrMalformed) {
		t.Errorf("without the column: %v", err)
	}
}

func TestWriterRefusesOtherColumns(t *testing.T) {
	for _, extra := range []string{"color", "id"} {
		w := NewWriter(&bytes.Buffer{}, extra)
		if err := w.Write(Op{Kind: Alloc}); err == nil || !strings.Contains(err.Error(), extra) {
			t.Errorf("column %s: %v", extra, err)
		}
	}
}

// A file stays as it is where a column cannot be, and no row comes after Close.
func TestWriterWritesNothingElse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if w, err := Create(path, "color"); w != nil || err == nil || !strings.Contains(err.Error(), "color") {
		t.Errorf("%v, %v", w, err)
	}
	if text, err := os.ReadFile(path); string(text) != "precious" {
		t.Errorf("%q is left, %v", text, err)
	}
	var out bytes.Buffer
	w := NewWriter(&out)
	for range 2 {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if err := w.Write(Op{Kind: Alloc}); !errors.Is(err, os.ErrClosed) {
			t.Errorf("Write after Close: %v", err)
		}
	}
	if out.String() != "op,id,size\n" {
		t.Errorf("%q was written", out.String())
	}
}

func TestCreateCompressesByName(t *testing.T) {
	for name, magic := range map[string]string{"t.csv": "op", "t.csv.gz": "\x1f\x8b"} {
		path := filepath.Join(t.TempDir(), name)
		w, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(Op{Kind: Alloc, ID: 3, Size: 9})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		raw, _ := os.ReadFile(path)
		if !bytes.HasPrefix(raw, []byte(magic)) {
			t.Errorf("%s begins with %q", name, raw[:2])
		}
		if tr, err := Load(path); err != nil || tr.Allocs != 1 || tr.LiveBytes != 9 {
			t.Errorf("%s: %+v, %v", name, tr, err)
		}
	}
	if _, err := Create(filepath.Join(t.TempDir(), "no", "t.csv")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
}

// What was written can be read a second later, or after 64 KiB, before Close and without it.
func TestWriterWritesInParts(t *testing.T) {
	for _, name := range []string{"t.csv", "t.csv.gz"} {
		synctest.Test(t, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			w, err := Create(path)
			if err != nil {
				t.Fatal(err)
			}
			want := func(allocs int) {
				t.Helper()
				synctest.Wait()
				if tr, err := Load(path); err != nil || tr.Allocs != allocs || tr.Warnings != nil {
					t.Errorf("%s: %+v, %v, want %d", name, tr, err, allocs)
				}
			}
			wrote := 0
			write := func(n int) {
				for range n {
					if err := w.Write(Op{Kind: Alloc, ID: uint64(wrote), Size: 9}); err != nil {
						t.Error(err)
					}
					wrote++
				}
			}
			write(3)
			<-time.After(time.Second)
			want(3)
			write(1)
			<-time.After(999 * time.Millisecond)
			want(3)
			<-time.After(time.Millisecond)
			want(4)
			write(10_000) // of 9 bytes
			if tr, err := Load(path); err != nil || wrote-tr.Allocs > 64<<10/9 || tr.Allocs < 5000 {
				t.Errorf("%+v, %v", tr, err)
			}
			if err := errors.Join(w.Close(), w.Close()); err != nil {
				t.Error(err)
			}
			want(wrote)
		})
	}
}

// A row that cannot be one is left out, and Close writes those before it.
func TestWriterKeepsRowsBeforeAWrongOne(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b, "key")
	good := Op{Kind: Alloc, ID: 1, Size: 9, Key: "k"}
	if err := w.Write(good); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(Op{Kind: Alloc, ID: 2, Size: 9, Key: strings.Repeat("k", 201)}); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
	if err := w.Close(); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
	if got, err := ops(b.String()); err != nil || !slices.Equal(got, []Op{good}) {
		t.Errorf("%v, %v", got, err)
	}
}

// full is a disk with room for that many bytes.
type full struct{ room int }

var errFull = errors.New("disk full")

func (f *full) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestWriterReportsTheFirstError(t *testing.T) {
	w := NewWriter(&full{room: 100})
	var err error
	for i := 0; err == nil && i < 100_000; i++ {
		err = w.Write(Op{Kind: Alloc, ID: uint64(i), Size: i})
	}
	if !errors.Is(err, errFull) || !errors.Is(w.Close(), errFull) {
		t.Errorf("%v", err)
	}
	if err := NewWriter(&full{}).Close(); !errors.Is(err, errFull) {
		t.Errorf("at Close: %v", err)
	}
}
