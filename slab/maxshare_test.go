package slab

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/cgroup"
	"github.com/bufslab/bufslab/internal/check"
)

// inGroup has the process be in a group with such a limit, until the test ends.
func inGroup(t *testing.T, limit string) {
	t.Helper()
	before := machine
	t.Cleanup(func() { machine = before })
	machine = cgroup.Of(fstest.MapFS{
		"proc/self/cgroup":           {Data: []byte("0::/a\n")},
		"sys/fs/cgroup/a/memory.max": {Data: []byte(limit)},
	})
}

// ram is what the machine has, as a device tells it.
func ram(t *testing.T) int64 {
	t.Helper()
	_, total, err := openDevice(t, "mmap").MemInfo()
	if err != nil {
		t.Skip("the system does not say how much memory there is: ", err)
	}
	return total
}

// A share of host memory is one of the group's limit, or of the machine's memory if that is less or
// there is no limit; of any other device one of what that has.
func TestMaxShare(t *testing.T) {
	total := ram(t)
	for _, c := range []struct {
		limit, line, of string
		want            int64
	}{
		{"536870912\n", "device=mmap,max_bytes=75%", "/sys/fs/cgroup/a/memory.max allows", 402653184},
		{"536870912\n", "max_bytes=50%", "/sys/fs/cgroup/a/memory.max allows", 268435456},
		{"max\n", "device=mmap,max_bytes=50%", "device mmap has", total / 2},
		{"9223372036854771712\n", "device=mmap,max_bytes=50%", "device mmap has", total / 2},
		{"0\n", "device=mmap,max_bytes=50%", "device mmap has", total / 2},
		{"garbage", "max_bytes=50%", "device heap has", total / 2},
		{"536870912\n", "device=sim:64MiB,max_bytes=25%", "device sim:64MiB has", 16 << 20},
		{"536870912\n", "device=virtual:4GiB,max_bytes=100%", "device virtual:4GiB has", 4 << 30},
		{"1000000000000000", "device=mmap:fixed,max_bytes=50%", "device mmap:fixed has", total / 2},
	} {
		inGroup(t, c.limit)
		p := openLine(t, c.line)
		if got := p.Stats().MaxBytes; got != c.want {
			t.Errorf("%s in a group of %q: %d bytes, not %d", c.line, c.limit, got, c.want)
		}
		if text := p.Explain(); !strings.Contains(text, c.of) || !strings.Contains(text, "max_bytes is ") {
			t.Errorf("%s: %s", c.line, text)
		}
		check.Must(t, p.Close())
	}
}

// A pool keeps within its share, which its line keeps as a share.
func TestMaxShareIsABudget(t *testing.T) {
	p := openLine(t, "device=sim:64MiB,max_bytes=25%,strategy=direct")
	defer func() { check.Must(t, p.Close()) }()
	if !strings.Contains(p.Name(), "max_bytes=25%") {
		t.Error(p.Name())
	}
	b := mustGet(t, p, 16<<20)
	var full *LimitError
	if _, err := p.Get(1); !errors.As(err, &full) || full.Max != 16<<20 {
		t.Error(err)
	}
	mustRelease(t, b)
}

// What a limit's file says that cannot be meant is a line of the log, and no limit of 0.
func TestOddLimitsAreLogged(t *testing.T) {
	total := ram(t)
	inGroup(t, "0\n")
	var log bytes.Buffer
	p, err := OpenConfig(Config{MaxShare: 0.5, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { check.Must(t, p.Close()) }()
	if p.Stats().MaxBytes != total/2 || strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "no limit") {
		t.Error(p.Stats().MaxBytes, log.String())
	}
}

// A share is validated as every value is, and what it comes to, too, before anything happens.
func TestBadShares(t *testing.T) {
	for want, c := range map[string]Config{
		"up to 100%":         {MaxShare: 1.5},
		"want a size":        {MaxShare: -0.5},
		"it is 1MiB as well": {MaxShare: 0.5, MaxBytes: 1 << 20},
		"no block fits":      {MaxShare: 1e-9, Device: "mmap"},
		"more than max_byte": {MaxShare: 0.1, Device: "sim:64MiB", Reserve: "32MiB"},
	} {
		var bad *ConfigError
		p, err := OpenConfig(c)
		if !errors.As(err, &bad) || p != nil || want != "want a size" && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	_, err := Open(unknowing{openDevice(t, "virtual")}, Config{MaxShare: 0.5})
	if !errors.Is(err, device.ErrUnavailable) {
		t.Error(err)
	}
	if _, _, err := ShareOf(strangeAllocator{}, 0.5); !errors.Is(err, device.ErrUnavailable) {
		t.Error(err)
	}
	var bad *ConfigError
	if _, _, err := ShareOf(openDevice(t, "virtual"), 0); !errors.As(err, &bad) {
		t.Error(err)
	}
}

// An unknowing device does not say what it has.
type unknowing struct{ device.Device }

func (unknowing) MemInfo() (free, total int64, err error) { return 0, 0, device.ErrUnavailable }

// Where the device says 0 bytes the limit of the group is the whole, and without one nothing is known.
func TestAShareOfADeviceThatSaysNothing(t *testing.T) {
	on := silent{openDevice(t, "mmap")}
	inGroup(t, "536870912\n")
	if n, source, err := ShareOf(on, 0.5); n != 256<<20 || err != nil || !strings.Contains(source, "memory.max allows") {
		t.Error(n, source, err)
	}
	inGroup(t, "max\n")
	if n, _, err := ShareOf(on, 0.5); !errors.Is(err, device.ErrUnavailable) {
		t.Error(n, err)
	}
}

// A silent device says that it has 0 bytes.
type silent struct{ device.Device }

func (silent) MemInfo() (free, total int64, err error) { return 0, 0, nil }

// A strangeAllocator draws on nothing that is known.
type strangeAllocator struct{ Allocator }

// A share for a Limit is one of its device, or of the Limit that it is over.
func TestShareOf(t *testing.T) {
	d := openDevice(t, "virtual:1GiB")
	n, source, err := ShareOf(d, 0.5)
	if n != 512<<20 || err != nil || !strings.Contains(source, "50% of 1073741824 bytes") {
		t.Error(n, source, err)
	}
	inner := NewLimit(NewLimit(d, n), 1<<40)
	if n, source, err = ShareOf(inner, 0.25); n != 128<<20 || err != nil || !strings.Contains(source, "the Limit below") {
		t.Error(n, source, err)
	}
}

// A share follows the limit of the container, until the program says how much it is.
func TestAShareFollowsTheLimit(t *testing.T) {
	if ram(t) < 2<<30 {
		t.Skip("The machine has less than the limits of this test.")
	}
	inGroup(t, "536870912\n")
	var log bytes.Buffer
	p := mustOpen(t, openDevice(t, "mmap"), Config{MaxShare: .5, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	out := mustGet(t, p, 200<<20)
	for _, c := range []struct {
		limit string
		want  int64
	}{{"268435456\n", 128 << 20}, {"1073741824\n", 512 << 20}} {
		inGroup(t, c.limit)
		pressed{p.pool}.LimitChanged()
		if n := p.Stats().MaxBytes; n != c.want {
			t.Errorf("a limit of %q, and a bound of %d", c.limit, n)
		}
		_, err := p.Get(100 << 20)
		if errors.Is(err, device.ErrOutOfMemory) != (c.want < 300<<20) {
			t.Errorf("a limit of %q, 200 MiB out, and 100 more: %v", c.limit, err)
		}
	}
	if n := strings.Count(log.String(), "max_bytes is now 50% of"); n != 2 {
		t.Errorf("%d lines: %s", n, &log)
	}
	for _, share := range []float64{1, 0} { // all of it, and a pool without a share
		inGroup(t, "1073741824\n")
		q := mustOpen(t, openDevice(t, "mmap"), Config{MaxShare: share})
		inGroup(t, "536870912\n")
		pressed{q.pool}.LimitChanged()
		if n := q.Stats().MaxBytes; n != int64(share)*536870912 {
			t.Errorf("a share of %g is %d bytes", share, n)
		}
		check.Must(t, q.Close())
	}
	check.Must(t, p.SetMaxBytes(300<<20))
	inGroup(t, "268435456\n")
	pressed{p.pool}.LimitChanged()
	if n := p.Stats().MaxBytes; n != 300<<20 {
		t.Errorf("the program's bound of 300 MiB became %d", n)
	}
	mustRelease(t, out)
}
