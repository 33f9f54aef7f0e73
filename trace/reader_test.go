package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// ops reads a whole text.
func ops(text string) ([]Op, error) {
	var all []Op
	for op, err := range NewReader(strings.NewReader(text), "t.csv").All() {
		if err != nil {
			return all, err
		}
		all = append(all, op)
	}
	return all, nil
}

func zipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.Bytes()
}

func TestReaderTakesAllFormsOfOneTrace(t *testing.T) {
	want := []Op{{Kind: Alloc, ID: 7, Size: 100}, {Kind: Alloc, ID: 8}, {Kind: Free, ID: 7, Size: 100}, {Kind: Free, ID: 8}}
	for name, text := range map[string]string{
		"header":             "op,id,size\na,7,100\na,8,0\nf,7,100\nf,8,0\n",
		"no header":          "a,7,100\na,8,0\nf,7,100\nf,8,0\n",
		"sizes of frees":     "op,id,size\na,7,100\na,8,0\nf,7,\nf,8,\n",
		"another order":      "op,size,id\na,100,7\na,0,8\nf,100,7\nf,0,8\n",
		"the op last":        "id,size,op\n7,100,a\n8,0,a\n7,100,f\n8,0,f\n",
		"carriage returns":   "op,id,size\r\na,7,100\r\na,8,0\r\nf,7,100\r\nf,8,0\r\n",
		"gzip":               string(zipped("op,id,size\na,7,100\na,8,0\nf,7,100\nf,8,0\n")),
		"gzip in two pieces": string(zipped("op,id,size\na,7,100\na,8,0\n")) + string(zipped("f,7,100\nf,8,0\n")),
	} {
		got, err := ops(text)
		if err != nil || len(got) != len(want) {
			t.Errorf("%s: %v, %v", name, got, err)
			continue
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: op %d is %+v, want %+v", name, i, got[i], want[i])
			}
		}
	}
}

func TestReaderTakesOptionalColumns(t *testing.T) {
	want := Op{Kind: Alloc, ID: 1, Size: 2, Key: "k,\"1\"", Stream: 3, Thread: 5, TimeNS: 4}
	for _, text := range []string{
		"a,1,2,\"k,\"\"1\"\"\",3,5,4\n",
		"op,time_ns,stream,key,size,thread,id\na,4,0x3,\"k,\"\"1\"\"\",2,5,1\n",
	} {
		if got, err := ops(text); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// A time beyond what TimeNS holds is the last that it holds.
func TestTimeDoesNotWrap(t *testing.T) {
	got, err := ops("op,id,size,time_ns\na,1,2,18446744073709551615\n")
	if err != nil || len(got) != 1 || got[0].TimeNS != math.MaxInt64 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestReaderTakesKeyedTraces(t *testing.T) {
	want := []Op{{Kind: Get, Size: 100, Key: "a"}, {Kind: Get, Size: 200, Key: "b,c"}, {Kind: Get, Size: 50, Key: "a"}, {Kind: Get, Size: 1}}
	for name, text := range map[string]string{
		"header":    "op,key,size\ng,a,100\ng,\"b,c\",200\ng,a,50\ng,,1\n",
		"no header": "g,a,100\ng,\"b,c\",200\ng,a,50\ng,,1\n",
		"op last":   "key,size,op\na,100,g\n\"b,c\",200,g\na,50,g\n,1,g\n",
		"with ids":  "op,id,size,key\ng,,100,a\ng,,200,\"b,c\"\ng,,50,a\ng,,1,\n",
	} {
		if got, err := ops(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestAnIDMayBeUsedAgainOnceFree(t *testing.T) {
	if got, err := ops("a,1,10\nf,1,10\na,1,20\nf,1,20\n"); err != nil || len(got) != 4 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestReaderNamesFileLineAndFault(t *testing.T) {
	for text, want := range map[string]struct {
		line int
		err  error
	}{
		"op,id,size\na,1\n":                      {2, ErrMalformed},
		"op,id,size\na,1,2,3\n":                  {2, ErrMalformed},
		"op,id,size\na,1,2\n\nx,1,2\n":           {4, ErrMalformed},
		"op,id,size\na,one,2\n":                  {2, ErrMalformed},
		"op,id,size\na,-1,2\n":                   {2, ErrMalformed},
		"op,id,size\na,1,two\n":                  {2, ErrSize},
		"op,id,size\na,1,-2\n":                   {2, ErrSize},
		"op,id,size\na,1,99999999999999999999\n": {2, ErrSize},
		"op,id,size\na,1,9999999999999999999\n":  {2, ErrSize},
		"op,id,size\na,1,\n":                     {2, ErrMalformed},
		"op,id,size\na,1,\"2\n":                  {2, ErrMalformed},
		"op,id,size\na,1,2\nf,2,2\n":             {3, ErrUnknownID},
		"op,id,size\na,1,2\nf,1,2\nf,1,2\n":      {4, ErrDoubleFree},
		"op,id,size\na,1,2\na,9,2\nf,2,2\n":      {4, ErrUnknownID},
		"op,id,size\na,1,2\na,1,2\n":             {3, ErrReusedID},
		"op,id,size\na,1,2\nf,1,3\n":             {3, ErrSize},
		"op,id\na,1\n":                           {2, ErrMalformed},
		"op,id,size,color\n":                     {1, ErrMalformed},
		"op,id,size,id\n":                        {1, ErrMalformed},
		"hello\n":                                {1, ErrMalformed},
		"op,key,size\ng,x,8\na,x,8\n":            {3, ErrMalformed},
		"op,id,size,key\ng,,8,x\na,1,8,\n":       {3, ErrKeyed},
		"op,id,size,key\na,1,8,\ng,,8,x\n":       {3, ErrKeyed},
		"op,id,size\ng,1,8\n":                    {2, ErrUnknownID},
		"op,id,size\na,1,8\nf,1,\ng,1,9\n":       {4, ErrUnknownID},
		"op,id,size\na,1,8\ng,1,\n":              {3, ErrMalformed},
		"op,id,size\na,1,8\ng,,9\n":              {3, ErrMalformed},
		"op,id,size\na,1,8\ng,1,9\nf,1,8\n":      {4, ErrSize},
		"op,id,size,key\ng,7,8,x\na,1,8,\n":      {3, ErrKeyed},
		"op,key,size\ng,x,0\n":                   {2, ErrMalformed},
		"op,key,size\ng,x,\n":                    {2, ErrMalformed},
		"op,key,size\ng,x,-8\n":                  {2, ErrSize},
		"op,key,size\na,x,8\n":                   {2, ErrMalformed},
		"a,1,2\nf,3,2\n":                         {2, ErrUnknownID},
		string(zipped("a,1,2\nf,3,2\n")):         {2, ErrUnknownID},
		"\x1f\x8bnot gzip at all":                {0, gzip.ErrHeader},
	} {
		_, err := ops(text)
		var e *SyntaxError
		if !errors.As(err, &e) || e.File != "t.csv" || e.Line != want.line || !errors.Is(err, want.err) {
			t.Errorf("%q: %v; want line %d, %v", text, err, want.line, want.err)
		}
	}
}

func TestReaderStaysFailed(t *testing.T) {
	r := NewReader(strings.NewReader("a,1,2\nf,2,2\nf,1,2\n"), "t.csv")
	r.Next()
	_, first := r.Next()
	if _, again := r.Next(); first == nil || again != first {
		t.Errorf("%v, then %v", first, again)
	}
	r = NewReader(strings.NewReader("op,id,size\n"), "t.csv")
	for range 2 {
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("an empty trace gives %v", err)
		}
	}
}

func TestSyntaxErrorText(t *testing.T) {
	_, err := ops("op,id,size\na,1,2\nf,1,2\nf,1,2\n")
	if err == nil || err.Error() != "trace: t.csv:4: id 1: freed twice" {
		t.Error(err)
	}
}

// BenchmarkRead loads a million events; ns/event is what one takes.
func BenchmarkRead(b *testing.B) {
	text := "op,id,size\n" + strings.Repeat("a,1048570,1234\na,1048571,65536\nf,1048570,1234\nf,1048571,65536\n", 250_000)
	b.ReportAllocs()
	for b.Loop() {
		if tr, err := Read(strings.NewReader(text), "t.csv"); err != nil || tr.Events() != 1_000_000 {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/event")
}

// Rows s of older recordings are left out, whatever stands in their columns.
func TestOldStepsAreLeftOut(t *testing.T) {
	got, err := ops("op,id,size,time_ns\ns,,,5\na,0,16,6\ns,,,\ns,7,8,9\nf,0,,\n")
	want := []Op{{Kind: Alloc, Size: 16, TimeNS: 6}, {Kind: Free, Size: 16}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

// What is no trace is none, however short: it is not taken for one without events.
func TestWhatIsNoTrace(t *testing.T) {
	for _, text := range []string{"", "\n\n", "hello", "hello, world", "\x80\x02}q\x00.", "a,1,2", string(zipped("")), string(zipped("hello")), "\x1f\x8b"} {
		tr, err := Read(strings.NewReader(text), "t.csv")
		if e := (*SyntaxError)(nil); !errors.As(err, &e) || tr != nil {
			t.Errorf("%q: %+v, %v", text, tr, err)
		}
		if _, err := (Replayer{}).Stream(NewReader(strings.NewReader(text), "t.csv"), open(t, "device=virtual")); err == nil {
			t.Errorf("%q can be replayed", text)
		}
	}
	if tr := read(t, "op,id,size\n"); tr.Events() != 0 {
		t.Errorf("%+v", tr)
	}
}
