package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// A Limit is the least that the groups of the process allow.
type Limit struct {
	Bytes  int64  // 0 is no limit
	Source string // the file that says so
	Odd    string // what a file says that cannot be meant, "" of most systems
}

// files are the names of a version's files of limits, the hard one first.
var files = [...][]string{1: {"memory.limit_in_bytes"}, 2: {"memory.max", "memory.high"}}

// unlimited is the least that means no limit: version 1 writes the largest multiple of a page.
const unlimited = 1 << 60

// Limit reads the hard limits of all groups.
func (s System) Limit() (l Limit) {
	for _, g := range s.Groups() {
		name := path.Join(g.Dir, files[g.Version][0])
		n, odd := s.bytes(name)
		if odd != "" {
			l.Odd = odd
		}
		if n > 0 && (l.Bytes == 0 || n < l.Bytes) {
			l.Bytes, l.Source = n, "/"+name
		}
	}
	return l
}

// bytes reads a file with a limit. Where there is none, or none can be read, it returns 0, and what
// is odd about the file.
func (s System) bytes(name string) (n int64, odd string) {
	text, err := s.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, ""
	}
	if err != nil { // the group went away meanwhile, or may not be read
		return 0, fmt.Sprintf("/%s: %v", name, err)
	}
	switch text = strings.TrimSpace(text); text {
	case "max", "-1":
		return 0, ""
	}
	n, err = strconv.ParseInt(text, 10, 64)
	if errors.Is(err, strconv.ErrRange) && n == math.MaxInt64 || n >= unlimited {
		return 0, ""
	}
	if err != nil || n <= 0 {
		return 0, fmt.Sprintf("/%s is %.40q, which is no limit", name, text)
	}
	return n, ""
}
