package device

import (
	"bytes"
	"os"
	"strconv"
)

// mostMappings reads the most mappings that a process may have.
func mostMappings() (int64, bool) {
	text, err := os.ReadFile("/proc/sys/vm/max_map_count")
	n, bad := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	return n, err == nil && bad == nil && n > 0
}

// countMappings counts the mappings of the process: each is a line.
func countMappings() (n int64, ok bool) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return 0, false
	}
	defer f.Close()
	buf := make([]byte, 64<<10)
	for {
		k, err := f.Read(buf)
		n += int64(bytes.Count(buf[:k], []byte{'\n'}))
		if err != nil {
			return n, n > 0
		}
	}
}
