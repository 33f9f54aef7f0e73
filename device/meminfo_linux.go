package device

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// systemMemory returns the available bytes of memory, and all bytes. Sysinfo knows
// the total, but counts the page cache as taken, which is nearly everything on a
// machine that has been up for a while. A line of /proc/meminfo has the available
// bytes.
func systemMemory() (free, total int64, err error) {
	var s unix.Sysinfo_t
	if err := unix.Sysinfo(&s); err != nil {
		return 0, 0, fmt.Errorf("device: sysinfo: %v: %w", err, ErrUnavailable)
	}
	text, _ := os.ReadFile("/proc/meminfo") // without it what is free counts
	free, total = memoryOf(&s, string(text))
	return free, total, nil
}

func memoryOf(s *unix.Sysinfo_t, meminfo string) (free, total int64) {
	unit := int64(max(s.Unit, 1)) // 0 in kernels where it was always 1
	total = int64(s.Totalram) * unit
	return min(max(int64(s.Freeram)*unit, available(meminfo)), total), total
}

// available finds the line "MemAvailable: 123 kB", in bytes, or returns 0.
func available(meminfo string) int64 {
	for line := range strings.Lines(meminfo) {
		f := strings.Fields(line)
		if len(f) == 3 && f[0] == "MemAvailable:" {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n << 10
		}
	}
	return 0
}
