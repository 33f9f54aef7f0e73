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

// NoLimit is a limit that a file says is none.
const NoLimit = math.MaxInt64

// unlimited is the least that means no limit: version 1 writes the largest multiple of a page.
const unlimited = 1 << 60

// HardFile is the file with the hard limit of g.
func (g Group) HardFile() string { return "/" + path.Join(g.Dir, files[g.Version][0]) }

// Limit reads the hard limits of all groups.
func (s System) Limit() (l Limit) {
	for _, g := range s.Groups() {
		name := path.Join(g.Dir, files[g.Version][0])
		n, odd := s.bytes(name)
		if odd != "" {
			l.Odd = odd
		}
		if isLimit(n) && (l.Bytes == 0 || n < l.Bytes) {
			l.Bytes, l.Source = n, "/"+name
		}
	}
	return l
}

func isLimit(n int64) bool { return 0 < n && n < NoLimit }

// bytes reads a file with a limit, which may be NoLimit. Where there is no file, or none that can be read, it returns
// 0, and what is odd about the file.
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
		return NoLimit, ""
	}
	n, err = strconv.ParseInt(text, 10, 64)
	if errors.Is(err, strconv.ErrRange) && n == math.MaxInt64 || n >= unlimited {
		return NoLimit, ""
	}
	if err != nil || n <= 0 {
		return 0, fmt.Sprintf("/%s is %.40q, which is no limit", name, text)
	}
	return n, ""
}
