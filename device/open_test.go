package device

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
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
		":pinned":               ErrUnavailable,
		"virtual:fast:pinned":   ErrSize,
		"virtual:16EiB":         ErrSize,
	} {
		d, err := Open(name)
		if d != nil {
			t.Errorf("%q opened %s", name, d.Name())
		}
		check.Wraps(t, err, want)
	}
}

func TestUnknownSchemeListsTheKnownAndSaysWhatToImport(t *testing.T) {
	for name, want := range map[string]string{
		"tape":   "heap, mmap",
		"cuda:0": "-tags cuda and import github.com/bufslab/bufslab/device/cuda",
		"opencl": "import github.com/bufslab/bufslab/device/opencl",
		"metal":  "import github.com/bufslab/bufslab/device/metal",
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
		check.Panics(t, scheme, func() { Register(scheme, open) })
	}
	check.Panics(t, "nil", func() { Register("nil", nil) })
}

// Host makes a slice a block that a device copies to and from.
func TestHost(t *testing.T) {
	d := opened(t, "heap")
	b := check.Ok(d.Alloc(3))(t)
	m := []byte{1, 2, 3, 4}
	check.Must(t, d.Copy(b, Host(m[:3])))
	if err := d.Copy(Host(m[1:]), b); err != nil || !slices.Equal(m, []byte{1, 1, 2, 3}) {
		t.Errorf("%v, %v", m, err)
	}
	if Host(nil) != (Block{}) || cap(Bytes(Host(m[:2]))) != 2 {
		t.Error("Host of nothing is something, or of something too much")
	}
}

// Bytes panics with numbers where a block is not within its region, and CheckBlock fails.
func TestBytesOfABlockBeyondItsRegion(t *testing.T) {
	r := Host(make([]byte, 100)).Region
	for _, b := range []Block{{r, 0, 101}, {r, 1, 100}, {r, -1, 10}, {r, 10, -1}, {r, 101, 0}, {r, 1, math.MaxInt}, {r, math.MaxInt, 1}} {
		func() {
			defer func() {
				want := fmt.Sprintf("device: block of %d bytes at offset %d of a region of 100", b.Len, b.Off)
				if got := recover(); got != want {
					t.Errorf("%v, want %s", got, want)
				}
			}()
			check.Wraps(t, CheckBlock(b), ErrSize)
			Bytes(b)
		}()
	}
	if m := Bytes(Block{r, 100, 0}); m == nil || len(m) != 0 {
		t.Errorf("the end of a region is %v", m)
	}
}

func TestOpenerWithoutDeviceOrError(t *testing.T) {
	t.Cleanup(func() { delete(registry.openers, "none") })
	Register("none", func(string) (Device, error) { return nil, nil })
	check.Wraps(t, check.Err(Open("none")), ErrUnavailable)
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "9223372036854775807": 1<<63 - 1, "9007199254740993": 1<<53 + 1,
		"1KiB": 1024, "1 kib": 1024, "1k": 1000, "2MB": 2e6, "0.5GiB": 1 << 29, "7EiB": 7 << 60,
		"8.2GB": 8_200_000_000, "1.005kB": 1005, ".5k": 500, "5.": 5, "1.9": 1, "9007199254740993.0": 1<<53 + 1,
		"9223372036854775807.9": 1<<63 - 1, "7.9999999999999999999EiB": 1<<63 - 1, "0.00000000000000000000001EB": 0,
		".26990499999909200409090EiB": 311_179_278_699_864_185,
	} {
		if n, err := ParseSize(text); n != want || err != nil {
			t.Errorf("%q: %d, %v, want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"", " ", "GiB", "-1", "-1GiB", "8EiB", "9223372036854775808", "1e400", "1.2.3", "1..2", ".", ".k", "9223372036854775.808kB", "5 apples", "36.9EB", "1kmB", "1iB", "1mgiB", "1i", "NaN", "inf", "٣"} {
		check.Wraps(t, check.Err(ParseSize(text)), ErrSize)
	}
}

// pinner is a device whose page-locked memory is another device.
type pinner struct{ Device }

func (p pinner) Pinned() (Device, error) { return p.Device, nil }

// told is a device that says what it is told to.
type told struct {
	Device
	traits Traits
}

func (d told) Traits() Traits { return d.traits }

// Pinned memory that is opened by name has the traits that it has anyway; a
// device that does not say has none.
func TestPinnedKeepsItsTraits(t *testing.T) {
	want := Traits{Grain: 512, Align: 64, Deferred: true, CallBytes: 1000}
	t.Cleanup(func() { delete(registry.openers, "told") })
	Register("told", func(string) (Device, error) { return pinner{told{opened(t, "heap"), want}}, nil })
	if got := TraitsOf(opened(t, "told:pinned")); got != want {
		t.Errorf("traits are %+v, want %+v", got, want)
	}
	if got := TraitsOf(opened(t, "told")); got != (Traits{}) {
		t.Errorf("a device that does not say has traits %+v", got)
	}
}

// A backend may have the method and neither memory nor an error, as an opener may.
func TestPinnerWithoutMemoryOrError(t *testing.T) {
	parent := empty{opened(t, "heap")}
	t.Cleanup(func() { delete(registry.openers, "empty") })
	Register("empty", func(string) (Device, error) { return parent, nil })
	check.Wraps(t, check.Err(Open("empty:pinned")), ErrUnavailable)
	check.Wraps(t, check.Err(parent.Alloc(1)), ErrClosed)
}

// empty is a device without page-locked memory that does not say so.
type empty struct{ Device }

func (empty) Pinned() (Device, error) { return nil, nil }

// Where there is no pinned memory the device that was opened for it is closed.
func TestPinnedThatIsNotThereClosesItsParent(t *testing.T) {
	parent := opened(t, "heap")
	t.Cleanup(func() { delete(registry.openers, "bare") })
	Register("bare", func(string) (Device, error) { return parent, nil })
	check.Wraps(t, check.Err(Open("bare:pinned")), ErrUnavailable)
	check.Wraps(t, check.Err(parent.Alloc(1)), ErrClosed)
}
