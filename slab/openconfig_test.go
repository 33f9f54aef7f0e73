package slab_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

// closings counts how often a device of the scheme "counted" was closed.
var closings int

type counted struct{ device.Device }

func (c counted) Name() string { return "counted" }

func (c counted) Close() error {
	closings++
	return c.Device.Close()
}

func init() {
	device.Register("counted", func(string) (device.Device, error) {
		d, err := device.Open("virtual")
		return counted{d}, err
	})
}

// Explain says where the name of the device is from.
func TestExplainSaysWhoseTheDeviceIs(t *testing.T) {
	dev, err := device.Open("mmap")
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	own, err := slab.Open(dev, slab.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for want, p := range map[string]*slab.Pool{
		"heap default": slab.MustOpen("strategy=slab"), "heap set by you": slab.MustOpen("device=heap"), "mmap of the upstream": own,
	} {
		first, _, _ := strings.Cut(p.Explain(), "\n")
		if got := strings.Join(strings.Fields(first), " "); got != "device "+want {
			t.Errorf("%q, want %q", got, want)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// MustOpen opens what OpenConfig opens, and panics with its error.
func TestMustOpen(t *testing.T) {
	p := slab.MustOpen("device=mmap,max_bytes=1MiB")
	if p.Device().Name() != "mmap" || p.Close() != nil {
		t.Error(p.Explain())
	}
	fails := func(line string) (err error) {
		defer func() { err = recover().(error) }()
		slab.MustOpen(line)
		return nil
	}
	var bad *slab.ConfigError
	if err := fails("stratgy=slab"); !errors.As(err, &bad) {
		t.Error(err)
	}
	if err := fails("device=sim:1MiB,reserve=16MiB"); !errors.Is(err, device.ErrOutOfMemory) {
		t.Error(err)
	}
}

func TestOpenConfigOpensWhatTheConfigSays(t *testing.T) {
	for _, dev := range []string{"", "heap", "mmap", "virtual", "sim:64MiB"} {
		for _, strategy := range append(slab.Strategies(), "") {
			p, err := slab.OpenConfig(slab.Config{Device: dev, Strategy: strategy})
			if err != nil {
				t.Errorf("%s on %s: %v", strategy, dev, err)
				continue
			}
			b, err := p.Get(5000)
			if err == nil {
				err = b.Release()
			}
			if err := errors.Join(err, p.Close()); err != nil {
				t.Errorf("%s on %s: %v", strategy, dev, err)
			}
		}
	}
}

func TestCloseClosesTheDeviceOnce(t *testing.T) {
	closings = 0
	p, err := slab.OpenConfig(slab.Config{Device: "counted"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Close(), p.Close()); err != nil || closings != 1 {
		t.Errorf("%d closings, %v", closings, err)
	}
}

func TestOpenConfigLeavesNothingOpenOnAnError(t *testing.T) {
	closings = 0
	_, err := slab.OpenConfig(slab.Config{Device: "counted", Record: filepath.Join(t.TempDir(), "no", "x.csv")})
	if !errors.Is(err, os.ErrNotExist) || closings != 1 {
		t.Errorf("no directory: %v, %d closings", err, closings)
	}
	var e *slab.ConfigError
	if _, err := slab.OpenConfig(slab.Config{Device: "counted", Bits: 99}); !errors.As(err, &e) || closings != 1 {
		t.Errorf("wrong config: %v, %d closings", err, closings)
	}
	if _, err := slab.OpenConfig(slab.Config{Device: "tape"}); !errors.Is(err, device.ErrUnavailable) {
		t.Errorf("no device: %v", err)
	}
}

// Whatever stands beneath, the recording has what the program asked for.
func TestRecordHasSizesAsAskedFor(t *testing.T) {
	for _, line := range []string{"strategy=sizeclass", "strategy=bitlog,check=true", "device=mmap,strategy=slab", "strategy=direct"} {
		for _, name := range []string{"x.csv", "x.csv.gz"} {
			path := filepath.Join(t.TempDir(), name)
			c, err := slab.ParseConfig(line + ",record=" + path)
			if err != nil {
				t.Fatal(err)
			}
			p, err := slab.OpenConfig(c)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				a, _ := p.Get(1001)
				b, _ := p.Get(70001)
				if err := errors.Join(a.Release(), b.Release()); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			r, err := trace.Load(path)
			if err != nil || r.Allocs != 6 || r.Frees != 6 || r.PeakLiveBytes != 71002 {
				t.Errorf("%s: %+v, %v", c, r, err)
			}
		}
	}
}

func TestCloseTellsThatTheRecordingFailed(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skipf("this system has no %s: %v", full, err)
	}
	p, err := slab.OpenConfig(slab.Config{Record: full})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err == nil {
		t.Error("Close has no error on a full disk")
	}
}

func ExampleOpenConfig() {
	p, err := slab.OpenConfig(slab.Config{Device: "mmap", MaxBytes: 1 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := p.Get(1000)
	fmt.Println(len(b.Bytes()), err)
	fmt.Println(b.Release(), p.Close())
	// Output:
	// 1000 <nil>
	// <nil> <nil>
}
