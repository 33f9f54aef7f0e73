package device

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Both figures are in bytes, whatever unit the system has. Free is what is available, and no more than there is.
func TestMemoryOf(t *testing.T) {
	const some, much = "MemAvailable: 50 kB\n", "MemAvailable: 5000 kB\n"
	for _, c := range []struct {
		unit        uint32
		meminfo     string
		free, total int64
	}{
		{1, "", 20_000, 100_000},
		{0, "", 20_000, 100_000},
		{1, some, 51_200, 100_000},
		{1, much, 100_000, 100_000},
		{4096, "", 81_920_000, 409_600_000},
		{4096, some, 81_920_000, 409_600_000},
	} {
		free, total := memoryOf(&unix.Sysinfo_t{Unit: c.unit, Freeram: 20_000, Totalram: 100_000}, c.meminfo)
		if free != c.free || total != c.total {
			t.Errorf("unit %d, %q: %d of %d bytes are free, not %d of %d", c.unit, c.meminfo, free, total, c.free, c.total)
		}
	}
}

// What is available is in a line of its own, in kilobytes of 1024. Without that line it is 0.
func TestAvailable(t *testing.T) {
	for text, want := range map[string]int64{
		"":                        0,
		"MemAvailable: 120 kB\n":  120 << 10,
		"MemAvailable:  3 kB":     3 << 10,
		"MemAvailable: 120\n":     0,
		"MemAvailable: many kB\n": 0,
		"MemAvail: 120 kB\n":      0,
		"MemTotal:       16000000 kB\nMemFree:         1000000 kB\nMemAvailable:    9000000 kB\nSwapFree: 7 kB\n": 9_216_000_000,
		"MemTotal: 5 kB\nkB MemAvailable: 6\n": 0,
	} {
		if n := available(text); n != want {
			t.Errorf("%q: %d, not %d", text, n, want)
		}
	}
}
