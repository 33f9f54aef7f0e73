package cgroup

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// files of a machine whose names and texts alternate.
func machine(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return m
}

const (
	v2Own   = "0::/pods/a\n"
	v2Mount = "31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n"
	v1Own   = "4:memory:/pods/a\n1:cpu:/\n0::/\n"
	v1Mount = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
)

// v2 and v1 are machines with a group of that version in another, /pods/a.
func v2(pairs ...string) fstest.MapFS {
	return machine(append(pairs, "proc/self/cgroup", v2Own, "proc/self/mountinfo", v2Mount)...)
}

func v1(pairs ...string) fstest.MapFS {
	return machine(append(pairs, "proc/self/cgroup", v1Own, "proc/self/mountinfo", v1Mount)...)
}

const (
	a2, pods2, top2 = "sys/fs/cgroup/pods/a/", "sys/fs/cgroup/pods/", "sys/fs/cgroup/"
	a1, pods1       = "sys/fs/cgroup/memory/pods/a/", "sys/fs/cgroup/memory/pods/"
)

// What is resolved of each shape of files that systems have, and of each way that they fail.
func TestLimit(t *testing.T) {
	for name, c := range map[string]struct {
		files  fs.FS
		bytes  int64
		source string
		odd    string // what Odd has
	}{
		"no file at all":              {files: machine()},
		"no groups":                   {files: machine("proc/self/cgroup", "")},
		"version 2":                   {v2(a2+"memory.max", "536870912\n"), 536870912, "/" + a2 + "memory.max", ""},
		"version 2 max":               {files: v2(a2+"memory.max", "max\n")},
		"version 2 without the file":  {files: v2(top2+"memory.pressure", "")},
		"nested, the outer is less":   {v2(a2+"memory.max", "2000000\n", pods2+"memory.max", "1000000\n"), 1000000, "/" + pods2 + "memory.max", ""},
		"nested, the inner is less":   {v2(a2+"memory.max", "1000000\n", pods2+"memory.max", "2000000\n"), 1000000, "/" + a2 + "memory.max", ""},
		"nested, the inner is max":    {v2(a2+"memory.max", "max\n", pods2+"memory.max", "2000000\n"), 2000000, "/" + pods2 + "memory.max", ""},
		"a byte":                      {v2(a2+"memory.max", "1\n"), 1, "/" + a2 + "memory.max", ""},
		"the least that is no limit":  {files: v2(a2+"memory.max", "1152921504606846976\n")}, // 1 EiB
		"the most that is one":        {v2(a2+"memory.max", "1152921504606846975\n"), 1<<60 - 1, "/" + a2 + "memory.max", ""},
		"high is not hard":            {files: v2(a2+"memory.max", "max\n", a2+"memory.high", "4096\n")},
		"the group has vanished":      {v2(pods2+"memory.max", "2000000\n"), 2000000, "/" + pods2 + "memory.max", ""},
		"0":                           {files: v2(a2+"memory.max", "0\n"), odd: `"0"`},
		"negative":                    {files: v2(a2+"memory.max", "-7\n"), odd: `"-7"`},
		"empty":                       {files: v2(a2+"memory.max", ""), odd: `""`},
		"garbage":                     {files: v2(a2+"memory.max", "512M; rm\n"), odd: "512M"},
		"garbage within a good one":   {v2(a2+"memory.max", "x\n", pods2+"memory.max", "2000000\n"), 2000000, "/" + pods2 + "memory.max", `"x"`},
		"a fraction":                  {files: v2(a2+"memory.max", "1.5\n"), odd: `"1.5"`},
		"more than 64 bits":           {files: v2(a2+"memory.max", "99999999999999999999999\n")},
		"less than 64 bits":           {files: v2(a2+"memory.max", "-99999999999999999999999\n"), odd: `"-999`},
		"version 1":                   {v1(a1+"memory.limit_in_bytes", "104857600\n"), 104857600, "/" + a1 + "memory.limit_in_bytes", ""},
		"version 1 unlimited":         {files: v1(a1+"memory.limit_in_bytes", "9223372036854771712\n")},
		"version 1 unlimited, 64 KiB": {files: v1(a1+"memory.limit_in_bytes", "9223372036854710272\n")},
		"version 1 as it was written": {files: v1(a1+"memory.limit_in_bytes", "-1\n")},
		"version 1 nested":            {v1(a1+"memory.limit_in_bytes", "9223372036854771712\n", pods1+"memory.limit_in_bytes", "4096\n"), 4096, "/" + pods1 + "memory.limit_in_bytes", ""},
		"a container that sees its own group only": {machine(
			"proc/self/cgroup", "0::/\n", "proc/self/mountinfo", v2Mount, "sys/fs/cgroup/memory.max", "3000000"), 3000000, "/sys/fs/cgroup/memory.max", ""},
		"a container without a name space": {machine(
			"proc/self/cgroup", "4:memory:/docker/abc\n",
			"proc/self/mountinfo", "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000"), 3000000, "/sys/fs/cgroup/memory/memory.limit_in_bytes", ""},
		"a group outside the name space": {machine(
			"proc/self/cgroup", "0::/../other\n", "proc/self/mountinfo", v2Mount, "sys/fs/cgroup/memory.max", "3000000"), 3000000, "/sys/fs/cgroup/memory.max", ""},
		"no mountinfo": {machine(
			"proc/self/cgroup", "0::/a\n", "sys/fs/cgroup/a/memory.max", "3000000"), 3000000, "/sys/fs/cgroup/a/memory.max", ""},
		"a mount with a space": {machine(
			"proc/self/cgroup", "0::/a\n", "proc/self/mountinfo", "1 2 0:3 / /my\\040cgroup rw - cgroup2 cgroup2 rw\n",
			"my cgroup/a/memory.max", "3000000"), 3000000, "/my cgroup/a/memory.max", ""},
		"lines that are none": {files: machine("proc/self/cgroup", "x\n:\n0::\n\n",
			"proc/self/mountinfo", "1 2\n - \n1 2 0:3 / /top\n1 2 - cgroup2 cgroup2 rw\n")},
		"a file that goes while it is read": {files: breaking{v2(a2+"memory.max", "4096\n"), "memory.max"}, odd: "no such device"},
	} {
		l := Of(c.files).Limit()
		if l.Bytes != c.bytes || l.Source != c.source || !strings.Contains(l.Odd, c.odd) || (c.odd == "") != (l.Odd == "") {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// A breaking file system has a file that is there and cannot be read, as that of a group which
// was removed.
type breaking struct {
	fstest.MapFS
	name string
}

func (b breaking) ReadFile(name string) ([]byte, error) {
	if strings.HasSuffix(name, b.name) {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("no such device")}
	}
	return b.MapFS.ReadFile(name)
}

// What a group uses of the lower of its limits, without what the page cache can give back.
func TestUsage(t *testing.T) {
	stat := "anon 300\ninactive_file 400\ntotal_inactive_file 40\n"
	for name, c := range map[string]struct {
		files fs.FS
		g     Group
		want  Usage
	}{
		"version 2":                   {v2(a2+"memory.max", "1000", a2+"memory.current", "500", a2+"memory.stat", stat), Group{a2, 2}, Usage{Bytes: 500, Limit: 1000, Source: "/" + a2 + "memory.max"}},
		"the cache counts as free":    {v2(a2+"memory.max", "1000", a2+"memory.current", "900", a2+"memory.stat", stat), Group{a2, 2}, Usage{Bytes: 500, Limit: 1000, Source: "/" + a2 + "memory.max"}},
		"a cache that is too large":   {v2(a2+"memory.max", "400", a2+"memory.current", "390", a2+"memory.stat", stat), Group{a2, 2}, Usage{Bytes: 0, Limit: 400, Source: "/" + a2 + "memory.max"}},
		"no stat":                     {v2(a2+"memory.max", "1000", a2+"memory.current", "900"), Group{a2, 2}, Usage{Bytes: 900, Limit: 1000, Source: "/" + a2 + "memory.max"}},
		"the cache is busy's share":   {v2(a2+"memory.max", "1000", a2+"memory.current", "800", a2+"memory.stat", stat), Group{a2, 2}, Usage{Bytes: 800, Limit: 1000, Source: "/" + a2 + "memory.max"}},
		"no cache":                    {v2(a2+"memory.max", "1000", a2+"memory.current", "900", a2+"memory.stat", "inactive_file 0\n"), Group{a2, 2}, Usage{Bytes: 900, Limit: 1000, Source: "/" + a2 + "memory.max"}},
		"less than no cache":          {v2(a2+"memory.max", "1000", a2+"memory.current", "900", a2+"memory.stat", "inactive_file -5\n"), Group{a2, 2}, Usage{Bytes: 900, Limit: 1000, Source: "/" + a2 + "memory.max"}},
		"nothing is used":             {v2(a2+"memory.max", "1", a2+"memory.current", "0"), Group{a2, 2}, Usage{Bytes: 0, Limit: 1, Source: "/" + a2 + "memory.max"}},
		"high is lower":               {v2(a2+"memory.max", "1000", a2+"memory.high", "600", a2+"memory.current", "100"), Group{a2, 2}, Usage{Bytes: 100, Limit: 600, Source: "/" + a2 + "memory.high"}},
		"events":                      {v2(a2+"memory.events", "low 7\nhigh 3\nmax 0\noom 1\noom_kill 9\n"), Group{a2, 2}, Usage{Events: 4}},
		"usage is garbage":            {v2(a2+"memory.max", "1000", a2+"memory.current", "x", a2+"memory.events", "max 1"), Group{a2, 2}, Usage{Events: 1}},
		"usage has vanished":          {v2(a2+"memory.max", "1000"), Group{a2, 2}, Usage{}},
		"a limit of 0":                {v2(a2+"memory.max", "0", a2+"memory.current", "500"), Group{a2, 2}, Usage{}},
		"version 1":                   {v1(a1+"memory.limit_in_bytes", "1000", a1+"memory.usage_in_bytes", "900", a1+"memory.stat", stat), Group{a1, 1}, Usage{Bytes: 860, Limit: 1000, Source: "/" + a1 + "memory.limit_in_bytes"}},
		"version 1 without any limit": {v1(a1+"memory.limit_in_bytes", "9223372036854771712", a1+"memory.usage_in_bytes", "900"), Group{a1, 1}, Usage{}},
	} {
		c.g.Dir = strings.TrimSuffix(c.g.Dir, "/")
		got := Of(c.files).Usage(c.g, 0.8)
		if got.Hard = 0; got != c.want { // of Hard is the next test
			t.Errorf("%s: %+v, not %+v", name, got, c.want)
		}
	}
}

// The hard limit is known beside a lower one, and whatever is used. A file that says none is told from no file.
func TestTheHardLimit(t *testing.T) {
	one, two := Group{strings.TrimSuffix(a1, "/"), 1}, Group{strings.TrimSuffix(a2, "/"), 2}
	for name, c := range map[string]struct {
		files fs.FS
		g     Group
		want  int64
	}{
		"high is lower":      {v2(a2+"memory.max", "1000", a2+"memory.high", "600", a2+"memory.current", "100"), two, 1000},
		"nothing says more":  {v2(a2+"memory.max", "1000"), two, 1000},
		"none":               {v2(a2+"memory.max", "max\n", a2+"memory.high", "600", a2+"memory.current", "100"), two, NoLimit},
		"no file":            {v2(a2+"memory.high", "600", a2+"memory.current", "100"), two, 0},
		"garbage":            {v2(a2+"memory.max", "x"), two, 0},
		"version 1":          {v1(a1+"memory.limit_in_bytes", "1000"), one, 1000},
		"version 1 has none": {v1(a1+"memory.limit_in_bytes", "9223372036854771712"), one, NoLimit},
	} {
		if got := Of(c.files).Usage(c.g, 0.8).Hard; got != c.want {
			t.Errorf("%s: %d, not %d", name, got, c.want)
		}
	}
	if two.HardFile() != "/"+a2+"memory.max" || one.HardFile() != "/"+a1+"memory.limit_in_bytes" {
		t.Error(one.HardFile(), two.HardFile())
	}
}

// What share is used, where there is a limit.
func TestUsed(t *testing.T) {
	for u, want := range map[Usage]float64{
		{}:                       0,
		{Bytes: 500}:             0,
		{Limit: 1}:               0,
		{Bytes: 1, Limit: 1}:     1,
		{Bytes: 250, Limit: 1e3}: 0.25,
	} {
		if got := u.Used(); got != want {
			t.Errorf("%+v: %v, not %v", u, got, want)
		}
	}
}

// Of the lines of /proc/self/cgroup those with memory are told from others. The name of a group may have colons.
func TestMemberOf(t *testing.T) {
	for line, want := range map[string]Group{
		"0::/a":             {"/a", 2},
		"0::/a:b":           {"/a:b", 2},
		"4:memory:/a":       {"/a", 1},
		"4:cpu,memory:/a":   {"/a", 1},
		"4:cpu,cpuacct:/a":  {},
		"1:name=systemd:/a": {},
		"0:cpu:/a":          {},
		"7::/a":             {},
		"4:memory":          {},
		"":                  {},
		"4:hugememory:/a":   {},
	} {
		if version, own := memberOf(line); version != want.Version || own != want.Dir {
			t.Errorf("%q is of version %d, in %q", line, version, own)
		}
	}
}

// Where a group is in what is mounted: the top stands for what the process may not see.
func TestBelow(t *testing.T) {
	for _, c := range []struct{ top, own, want string }{
		{"/", "/", "."},
		{"/", "/a/b", "a/b"},
		{"/docker/abc", "/docker/abc", "."},
		{"/docker/abc", "/docker/abc/x", "x"},
		{"/docker/abc", "/docker/other", "."},
		{"/docker/abc", "/docker/abcd", "."},
		{"/", "/../other", "."},
	} {
		if got := (mount{"", c.top}).below(c.own); got != c.want {
			t.Errorf("%s below %s is %q, not %q", c.own, c.top, got, c.want)
		}
	}
}

// What is mounted is judged by its type and its options. Its source is a mere name.
func TestIsMemory(t *testing.T) {
	for of, want := range map[[3]string]int{
		{"cgroup2", "none", "rw"}:             2,
		{"none", "cgroup2", "rw"}:             0,
		{"cgroup", "none", "rw,memory"}:       1,
		{"cgroup", "none", "rw,cpu"}:          0,
		{"none", "cgroup", "rw,memory"}:       0,
		{"tmpfs", "cgroup", "rw,memory"}:      0,
		{"cgroup", "memory", "rw,hugetlb,ro"}: 0,
	} {
		for version := 1; version <= 2; version++ {
			if got := isMemory(of[:], version); got != (version == want) {
				t.Errorf("%q, version %d: %v", of, version, got)
			}
		}
	}
}

// Each group comes before the one around it.
func TestGroups(t *testing.T) {
	got := Of(v2(a2+"memory.max", "1", pods2+"x", "", top2+"y", "")).Groups()
	want := []Group{{"sys/fs/cgroup/pods/a", 2}, {"sys/fs/cgroup/pods", 2}, {"sys/fs/cgroup", 2}}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Error(got)
	}
}

// Nothing of the machine that runs the test is a limit of 0, or less.
func TestMachine(t *testing.T) {
	if l := Machine().Limit(); l.Bytes < 0 || (l.Bytes == 0) != (l.Source == "") {
		t.Errorf("%+v", l)
	}
}
