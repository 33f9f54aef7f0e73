// Package cgroup reads what the system allows a process of memory, and what it uses: the files of
// control groups of version 1 and 2. Its files may be missing, empty, odd, or vanish between two
// reads. None of that is an error, and none of it makes a limit of 0.
//
//	cgroup.go  where the groups of the process are
//	limit.go   the least that one of them allows
//	usage.go   what they use of it
package cgroup

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// A System is the root of the file system of a machine, or of a double of one.
type System struct{ root fs.FS }

// Machine is the system that the process runs on.
func Machine() System { return System{os.DirFS("/")} }

// Of returns the system with such a root.
func Of(root fs.FS) System { return System{root} }

// A Group is a control group with a memory controller that the process is in.
type Group struct {
	Dir     string // from the root, without a slash before it
	Version int    // 1 or 2
}

// Groups returns the groups of the process that the system shows, each before the one around it.
// There are none where the system has no control groups.
func (s System) Groups() (list []Group) {
	text, _ := s.read("proc/self/cgroup")
	for line := range strings.Lines(text) {
		if version, own := memberOf(strings.TrimSpace(line)); version > 0 {
			list = append(list, s.nested(version, own)...)
		}
	}
	return list
}

// memberOf reads a line of /proc/self/cgroup, hierarchy:controllers:path. Version is 0 where the
// line is none of memory.
func memberOf(line string) (version int, own string) {
	f := strings.SplitN(line, ":", 3)
	switch {
	case len(f) < 3:
		return 0, ""
	case f[0] == "0" && f[1] == "":
		return 2, f[2]
	case slices.Contains(strings.Split(f[1], ","), "memory"):
		return 1, f[2]
	}
	return 0, ""
}

// nested returns the groups from own up to the top of what is mounted.
func (s System) nested(version int, own string) (list []Group) {
	m := s.mounted(version)
	for at := m.below(own); ; at = path.Dir(at) {
		dir := path.Join(m.at, at)
		if _, err := fs.Stat(s.root, dir); err == nil { // a container may not see the groups around it
			list = append(list, Group{dir, version})
		}
		if at == "." || at == "/" {
			return list
		}
	}
}

// A mount is where a hierarchy is: group top and those in it are in folder at.
type mount struct{ at, top string }

// below returns where group own is in the mount. A group outside of what the process may see has a
// path that begins with /.. and counts as the top.
func (m mount) below(own string) string {
	rest, in := strings.CutPrefix(path.Clean(own)+"/", strings.TrimSuffix(m.top, "/")+"/")
	if !in || strings.HasPrefix(own, "/..") {
		return "."
	}
	return cmp.Or(strings.Trim(rest, "/"), ".")
}

// mounted finds the hierarchy of memory in /proc/self/mountinfo, else where it usually is.
func (s System) mounted(version int) mount {
	text, _ := s.read("proc/self/mountinfo")
	for line := range strings.Lines(text) {
		before, after, _ := strings.Cut(strings.TrimSpace(line), " - ")
		f, kind := strings.Fields(before), strings.Fields(after)
		if len(f) >= 5 && len(kind) >= 3 && isMemory(kind, version) {
			return mount{strings.TrimPrefix(unescape.Replace(f[4]), "/"), unescape.Replace(f[3])}
		}
	}
	if version == 1 {
		return mount{"sys/fs/cgroup/memory", "/"}
	}
	return mount{"sys/fs/cgroup", "/"}
}

// isMemory reports whether a file system, with its type, source and options, is what memory of a
// version is controlled by.
func isMemory(kind []string, version int) bool {
	if version == 2 {
		return kind[0] == "cgroup2"
	}
	return kind[0] == "cgroup" && slices.Contains(strings.Split(kind[2], ","), "memory")
}

// unescape undoes what mountinfo does to a path.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

func (s System) read(name string) (text string, err error) {
	b, err := fs.ReadFile(s.root, name)
	return string(b), err
}
