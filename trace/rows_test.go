package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A last row without its newline is dropped with a warning, though it may look whole: of
// 1048576 bytes a kill leaves 104857.
func TestALastRowThatWasCutShortIsDropped(t *testing.T) {
	for text, line := range map[string]int{
		"op,id,size\na,0,8\na,1,104857":           3,
		"op,id,size\na,0,8\na,1,1048576":          3,
		"a,0,8\nf":                                2,
		"a,0,8\n\nf,0,":                           3,
		string(zipped("a,0,8\na,1,10")):           2,
		"op,id,size,key\na,0,8,\"x\ny\"\na,1,9,y": 4,
	} {
		tr, err := Read(strings.NewReader(text), "t.csv")
		want := []string{fmt.Sprintf("trace: t.csv:%d: the row has no newline and was dropped: the file was cut short", line)}
		if err != nil || tr.Allocs != 1 || tr.Frees != 0 || tr.LiveBytes != 8 || !slices.Equal(tr.Warnings, want) {
			t.Errorf("%q: %+v, %v", text, tr, err)
		}
	}
	for _, text := range []string{"", "op,id,size\n", "a,0,8\n", "a,0,8\n\n"} {
		r := NewReader(strings.NewReader(text), "t.csv")
		for range r.All() {
		}
		if w := r.Warnings(); w != nil {
			t.Errorf("%q: %q", text, w)
		}
	}
}

// Of a compressed file that was cut short, wherever that was, all whole rows are there, and
// a warning.
func TestACutMemberIsDropped(t *testing.T) {
	first, second := zipped("op,id,size,key\na,0,8,x\na,1,8,\"y\nz\"\n"), zipped("f,0,8,\na,2,8,x\nf,1,8,\n")
	for n := range second {
		tr, err := Read(bytes.NewReader(append(first[:len(first):len(first)], second[:n]...)), "t.csv.gz")
		if err != nil || tr.Allocs < 2 || n == 0 && tr.Frees > 0 {
			t.Fatalf("%d bytes: %+v, %v", n, tr, err)
		}
		line := 5 + tr.Allocs - 2 + tr.Frees
		missing := fmt.Sprintf("trace: t.csv.gz:%d: the compressed file was cut short, and rows from here on are missing", line)
		if n > 0 && !slices.Equal(tr.Warnings, []string{missing}) || n == 0 && tr.Warnings != nil {
			t.Errorf("%d bytes: %v, want %s", n, tr.Warnings, missing)
		}
	}
	var open bytes.Buffer // within quotes, at the end of a line
	z := gzip.NewWriter(&open)
	_, err := z.Write([]byte("op,id,size,key\na,0,8,x\na,1,8,\"y\n"))
	if err := errors.Join(err, z.Flush()); err != nil {
		t.Fatal(err)
	}
	if tr, err := Read(&open, "t.csv.gz"); err != nil || tr.Allocs != 1 || len(tr.Warnings) != 1 {
		t.Errorf("%+v, %v", tr, err)
	}
}

// A field or a row that is too long is refused, and none is ever longer in memory.
func TestLongFieldsAreRefused(t *testing.T) {
	digits := strings.Repeat("1", 65)
	for text, why := range map[string]string{
		"op,id,size\na," + digits + ",8\n":                           "a field of 65 bytes, want at most 64",
		"op,id,size\na,1," + digits + "\n":                           "a field of 65 bytes, want at most 64",
		"op,key,size\ng," + strings.Repeat("k", 201) + ",8\n":        "a field of 201 bytes, want at most 200",
		"op,id,size\na,1,8" + strings.Repeat(",", 2000) + "\n":       "a row of more than 2000 bytes",
		"op,key,size\ng,\"" + strings.Repeat("k\n", 1000) + "\",8\n": "a row of more than 2000 bytes",
	} {
		if _, err := ops(text); !errors.Is(err, ErrMalformed) || !strings.HasSuffix(err.Error(), why) {
			t.Errorf("%.40q: %v, want %s", text, err, why)
		}
	}
	long := "op,key,size\ng," + strings.Repeat("k", 200) + ",8\n"
	if got, err := ops(long); err != nil || len(got) != 1 {
		t.Errorf("a key of 200 bytes: %v, %v", got, err)
	}
}

// 64 MiB of digits cost no memory to speak of, and no text.
func TestALongFieldCostsNoMemory(t *testing.T) {
	for _, c := range []byte("1,\"") {
		long := io.MultiReader(strings.NewReader("op,id,size\na,1,"), io.LimitReader(endless(c), 64<<20))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(long, "t.csv")
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrMalformed) || len(err.Error()) > 500 {
			t.Errorf("%q: an error of %d bytes", c, len(fmt.Sprint(err)))
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%q: %d bytes were allocated", c, n)
		}
	}
}

// endless is one byte again and again.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// What Reader would refuse Writer does not write.
func TestWriterRefusesALongKey(t *testing.T) {
	w := NewWriter(io.Discard, "key")
	if err := w.Write(Op{Kind: Get, Key: strings.Repeat("k", 201), Size: 1}); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
}
