package device

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func opened(t testing.TB, name string) Device {
	t.Helper()
	d, err := Open(name)
	if err != nil {
		if errors.Is(err, ErrUnavailable) && strings.HasPrefix(name, "mmap") {
			t.Skipf("no mmap here: %v", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func allocated(t testing.TB, d Device, n int) Block {
	t.Helper()
	b, err := d.Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error is %v, want %v", err, want)
	}
}

func TestNameOpensTheSameAgain(t *testing.T) {
	for _, name := range []string{"heap", "mmap", "mmap:fixed", "virtual", "virtual:fixed", "virtual:1GiB,fixed", "sim", "sim:12", "sim:pinned", "sim:12:pinned"} {
		d := opened(t, name)
		if d.Name() != name {
			t.Errorf("%s has the name %s", name, d.Name())
		}
		if opened(t, d.Name()) == d {
			t.Errorf("%s opened twice is one device", name)
		}
	}
	if d := opened(t, NewSim(77).Name()); d.(*Sim).room.capacity != 77 {
		t.Errorf("the name of a sim of 77 bytes opens one of %d", d.(*Sim).room.capacity)
	}
}

func TestOpenRefusesWhatItCannotUse(t *testing.T) {
	for name, want := range map[string]error{
		"":                      ErrUnavailable,
		"tape":                  ErrUnavailable,
		"cuda":                  ErrUnavailable,
		"opencl:0":              ErrUnavailable,
		"heap:":                 ErrUnavailable,
		"heap:4GiB":             ErrUnavailable,
		"Heap":                  ErrUnavailable,
		"mmap:fix":              ErrUnavailable,
		"mmap:fixed,":           ErrUnavailable,
		"virtual:fixed,fixed":   ErrUnavailable,
		"virtual:1,2":           ErrUnavailable,
		"virtual:1,fixed,fixed": ErrUnavailable,
		"virtual:fixd":          ErrSize,
		"virtual:fixed,":        ErrSize,
		"virtual:-1":            ErrSize,
		"heap:pinned":           ErrUnavailable,
		"sim:pinned:pinned":     ErrUnavailable,
		":pinned":               ErrUnavailable,
		"sim:fast:pinned":       ErrSize,
		"sim:fast":              ErrSize,
		"sim:-1":                ErrSize,
		"sim:16EiB":             ErrSize,
	} {
		d, err := Open(name)
		if d != nil {
			t.Errorf("%q opened %s", name, d.Name())
		}
		wantErr(t, err, want)
	}
}

func TestUnknownSchemeListsTheKnownAndSaysWhatToImport(t *testing.T) {
	for name, want := range map[string]string{
		"tape":   "heap, mmap, sim",
		"cuda:0": "-tags cuda and import github.com/bufslab/bufslab/device/cuda",
		"opencl": "import github.com/bufslab/bufslab/device/opencl",
	} {
		if _, err := Open(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%q): %v does not say %q", name, err, want)
		}
	}
}

func TestRegister(t *testing.T) {
	var rest string
	open := func(r string) (Device, error) {
		rest = r
		return Open("heap") // devices may be made of others
	}
	t.Cleanup(func() { delete(registry.openers, "test") })
	Register("test", open)
	if _, err := Open("test:a:b"); err != nil || rest != "a:b" {
		t.Errorf("rest is %q, error %v", rest, err)
	}
	if _, err := Open("test"); err != nil || rest != "" {
		t.Errorf("rest is %q, error %v", rest, err)
	}
	if s := Schemes(); !slices.IsSorted(s) || !slices.Contains(s, "test") {
		t.Errorf("schemes %v", s)
	}
	for _, scheme := range []string{"", "a:b", "test", "heap"} {
		mustPanic(t, scheme, func() { Register(scheme, open) })
	}
	mustPanic(t, "nil", func() { Register("nil", nil) })
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}

// Host makes a slice a block that a device copies to and from.
func TestHost(t *testing.T) {
	d := opened(t, "sim")
	b := allocated(t, d, 3)
	m := []byte{1, 2, 3, 4}
	if err := d.Copy(b, Host(m[:3])); err != nil {
		t.Fatal(err)
	}
	if err := d.Copy(Host(m[1:]), b); err != nil || !slices.Equal(m, []byte{1, 1, 2, 3}) {
		t.Errorf("%v, %v", m, err)
	}
	if Host(nil) != (Block{}) || cap(Bytes(Host(m[:2]))) != 2 {
		t.Error("Host of nothing is something, or of something too much")
	}
}

func TestOpenerWithoutDeviceOrError(t *testing.T) {
	t.Cleanup(func() { delete(registry.openers, "none") })
	Register("none", func(string) (Device, error) { return nil, nil })
	_, err := Open("none")
	wantErr(t, err, ErrUnavailable)
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "9223372036854775807": 1<<63 - 1, "9007199254740993": 1<<53 + 1,
		"1KiB": 1024, "1 kib": 1024, "1k": 1000, "2MB": 2e6, "0.5GiB": 1 << 29, "7EiB": 7 << 60,
	} {
		if n, err := ParseSize(text); n != want || err != nil {
			t.Errorf("%q: %d, %v, want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"", " ", "GiB", "-1", "-1GiB", "8EiB", "9223372036854775808", "1e400", "1.2.3", "5 apples", "NaN", "inf", "٣"} {
		_, err := ParseSize(text)
		wantErr(t, err, ErrSize)
	}
}

// Panics and errors are facts with numbers.
func TestBadFreeText(t *testing.T) {
	for _, name := range []string{"heap", "mmap", "virtual", "sim"} {
		t.Run(name, func(t *testing.T) {
			d := opened(t, name)
			b := allocated(t, d, 100)
			d.Free(b)
			want := fmt.Sprintf("device: Free of a block that is not out, 100 bytes at offset 0 of %s", name)
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic is %q, want %q", got, want)
				}
			}()
			d.Free(b)
		})
	}
}
