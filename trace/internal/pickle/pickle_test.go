package pickle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

const plenty = 1 << 20

func golden(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func list(items ...any) *List { return &List{items} }

// Python wrote the pickles, see testdata/make.py.
func TestDecodeReadsWhatPythonWrites(t *testing.T) {
	frame := Dict{"name": "main", "line": int64(7)}
	frames := list(frame, frame)
	one, two, three, four := int64(1), int64(2), int64(3), int64(4)
	want := Dict{
		"none": nil, "yes": true, "no": false,
		"ints": list(int64(0), one, int64(255), int64(256), int64(65535), int64(65536), int64(-1), int64(math.MinInt32),
			int64(1<<31), int64(1<<40), int64(-1<<40), int64(math.MaxInt64), int64(math.MinInt64)),
		"big":    list(BigInt{}, BigInt{}, BigInt{}, BigInt{}, BigInt{}),
		"floats": list(0.5, -1e300, math.Inf(1)),
		"text":   list("", strings.Repeat("a", 300), "grüß ☃ 😀 \\ \n \x7f"),
		"tuples": list(list(), list(one), list(one, two), list(one, two, three), list(one, two, three, four)),
		"frames": frames, "self": frames, int64(7): Dict{},
	}
	for protocol := range 6 {
		got, err := Decode(bytes.NewReader(golden(t, fmt.Sprint("plain.", protocol))), plenty)
		if err != nil {
			t.Errorf("protocol %d: %v", protocol, err)
			continue
		}
		dict := got.(Dict)
		for key, value := range want {
			have := dict[key]
			if l, ok := have.(*List); ok && len(l.Items) == 0 {
				have = list()
			}
			if fmt.Sprint(shown(have)) != fmt.Sprint(shown(value)) || reflect.TypeOf(have) != reflect.TypeOf(value) {
				t.Errorf("protocol %d: %v is %v, want %v", protocol, key, shown(have), shown(value))
			}
		}
		if len(dict) != len(want) || dict["self"] != dict["frames"] {
			t.Errorf("protocol %d: %d items, want %d, and a list that stands twice", protocol, len(dict), len(want))
		}
	}
}

// A tuple in itself: t = ([], 1); t[0].append(t). Of protocol 0 the last POP takes away a mark.
func TestDecodeOfATupleInItself(t *testing.T) {
	got, err := Decode(strings.NewReader("((lp0\n(g0\nI1\ntp1\naI1\n000g1\n."), plenty)
	if err != nil {
		t.Fatal(err)
	}
	tuple := got.(*List)
	if inner := tuple.Items[0].(*List); len(tuple.Items) != 2 || len(inner.Items) != 1 || inner.Items[0] != tuple {
		t.Errorf("%d items, the first has %d", len(tuple.Items), len(inner.Items))
	}
	if _, err := Decode(strings.NewReader("(00N."), plenty); !errors.Is(err, ErrBroken) {
		t.Errorf("two POPs after one mark: %v", err)
	}
}

// shown replaces lists by slices, with the types of what is in them.
func shown(v any) any {
	switch v := v.(type) {
	case *List:
		var all []any
		for _, item := range v.Items {
			all = append(all, shown(item))
		}
		return all
	case Dict:
		return fmt.Sprint(map[any]any(v))
	}
	return fmt.Sprintf("%T %v", v, v)
}

// Each of them would run a command in Python.
func TestDecodeRunsNothing(t *testing.T) {
	for protocol, want := range []string{"GLOBAL", "GLOBAL", "GLOBAL", "GLOBAL", "STACK_GLOBAL", "STACK_GLOBAL"} {
		_, err := Decode(bytes.NewReader(golden(t, fmt.Sprint("evil.", protocol))), plenty)
		if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "opcode "+want+":") {
			t.Errorf("protocol %d: %v, want a refused %s", protocol, err, want)
		}
	}
	for _, dir := range []string{".", "testdata"} {
		if _, err := os.Stat(filepath.Join(dir, "executed")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a command has run: %v", err)
		}
	}
}

func TestDecodeRefusesByNameAndOffset(t *testing.T) {
	for op, name := range refused {
		_, err := Decode(strings.NewReader("\x80\x02]"+string([]byte{op})+"os\nsystem\n."), plenty)
		if !errors.Is(err, ErrRefused) || err.Error() != "byte 3: opcode "+name+": not plain data" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Decode(strings.NewReader("\x80\x06N."), plenty); !errors.Is(err, ErrRefused) {
		t.Errorf("protocol 6: %v", err)
	}
	if _, err := Decode(strings.NewReader("\xff"), plenty); !errors.Is(err, ErrRefused) {
		t.Errorf("no opcode: %v", err)
	}
}

func TestEveryTruncationIsAnError(t *testing.T) {
	for protocol := range 6 {
		whole := golden(t, fmt.Sprint("plain.", protocol))
		for n := range whole {
			if _, err := Decode(bytes.NewReader(whole[:n]), plenty); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("protocol %d cut to %d bytes: %v", protocol, n, err)
			}
		}
	}
}

func TestBrokenPickles(t *testing.T) {
	for _, text := range []string{
		".", "0.", "1.", "t.", "l.", "d.", "e.", "u.", "a.", "s.", "2.", "\x85.", "(N\x86.", "NN(\x85N1.", "q\x00.", "\x94.",
		"h\x00.", "j\x00\x00\x00\x00.", "g0\n.", "gx\n.", "Ix\n.", "Lx\n.", "Fx\n.", "V\\u12\n.", "V\\uwxyz\n.", "px\n.",
		"NNa.", "NNNs.", "N(Ne.", "N(NNu.", "}(Nu.", "(Nd.", "}}Ns.", "}(}Nu.", "(}Nd.", "(NNN0000.", "](.",
		"V" + strings.Repeat("a", 1<<17) + "\n.",
	} {
		if _, err := Decode(strings.NewReader(text), plenty); !errors.Is(err, ErrBroken) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// What a pickle takes is bounded whatever it claims and however its values stand.
func TestBudget(t *testing.T) {
	const many = 1 << 20
	for name, text := range map[string]io.Reader{
		"a long string":      strings.NewReader("\x8d\xff\xff\xff\xff\xff\xff\xff\x7f"),
		"the longest string": strings.NewReader("\x8d\xff\xff\xff\xff\xff\xff\xff\xff"),
		"a long integer":     strings.NewReader("\x8b\xff\xff\xff\x7f"),
		"lists":              strings.NewReader(strings.Repeat("]", many)),
		"dicts":              strings.NewReader(strings.Repeat("}", many)),
		"marks":              strings.NewReader(strings.Repeat("(", many)),
		"nested tuples":      strings.NewReader("N" + strings.Repeat("\x85", many)),
		"copies":             strings.NewReader("N" + strings.Repeat("2", many)),
		"the memo":           strings.NewReader("N" + strings.Repeat("\x94", many)),
		"a list that grows":  strings.NewReader("]" + strings.Repeat("Na", many)),
		"a dict that grows":  strings.NewReader("}" + strings.Repeat("K\x01Ns", many)),
		"lines":              strings.NewReader(strings.Repeat("I1\n0", many)),
	} {
		if _, err := Decode(text, plenty); !errors.Is(err, ErrBudget) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is thrown away again costs nothing.
func TestBudgetIsForWhatIsKept(t *testing.T) {
	if _, err := Decode(strings.NewReader(strings.Repeat("N0", plenty)+strings.Repeat("(NN1", plenty)+"N."), plenty); err != nil {
		t.Error(err)
	}
}

// A length that no int64 holds is refused by any budget.
func TestALengthDoesNotWrap(t *testing.T) {
	if v, err := Decode(strings.NewReader("\x8d\xff\xff\xff\xff\xff\xff\xff\xff."), math.MaxInt64); !errors.Is(err, ErrBudget) {
		t.Errorf("%v, %v", v, err)
	}
}

// A claim costs nothing: memory for a string grows with what is there.
func TestALengthIsNotBelieved(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Decode(strings.NewReader("X\xff\xff\xff\x7f"), math.MaxInt64)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, ErrBroken) || n > 1<<20 {
		t.Errorf("%v, and %d bytes allocated for a string of no bytes that claims 2 GiB", err, n)
	}
}

func FuzzDecode(f *testing.F) {
	for protocol := range 6 {
		f.Add(golden(f, fmt.Sprint("plain.", protocol)))
		f.Add(golden(f, fmt.Sprint("evil.", protocol)))
	}
	f.Add([]byte("\x80\x04](h\x00e."))
	f.Add([]byte("](]q\x00h\x00ee."))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := Decode(bytes.NewReader(b), plenty); err != nil &&
			!errors.Is(err, ErrRefused) && !errors.Is(err, ErrBroken) && !errors.Is(err, ErrBudget) {
			t.Error(err)
		}
	})
}
