package trace

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The samples have the shapes that the programs write, and in few lines everything that an
// import has to get right.
const (
	rmmSample = `Thread,Time,Action,Pointer,Size,Stream
140,23:59:59.999990,allocate,0x7f10,1000,0x0
140,23:59:59.999992,allocate,0x7f20,2000,0x2
141,00:00:00.000001,free,0x7f10,1000,0x0
141,00:00:00.000002,allocate failure,(nil),900000000,0x0
140,00:00:00.000003,allocate,0x7f10,3000,0
140,00:00:00.000004,allocate,(nil),0,0x0
140,00:00:00.000004,free,(nil),0,0x0
140,00:00:00.000005,free,0x7f10,3000,0
`
	umpireFirst = `##### what the license says
{ "kind":"replay", "uid":27, "timestamp":1558388052211435000, "event": "version", "payload": { "major":0, "minor":3, "patch":3 } }
{ "kind":"replay", "uid":27, "timestamp":1558388052211435001, "event": "makeMemoryResource", "payload": { "name": "HOST" }, "result": "0x101" }
{ "kind":"replay", "uid":27, "timestamp":1558388052211435002, "event": "makeAllocator", "payload": { "type":"umpire::strategy::DynamicPool", "with_introspection":true, "allocator_name":"pool", "args": [ "HOST" ] } }
{ "kind":"replay", "uid":27, "timestamp":1558388052211435003, "event": "makeAllocator", "payload": { "type":"umpire::strategy::DynamicPool", "with_introspection":true, "allocator_name":"pool", "args": [ "HOST" ] }, "result": { "allocator_ref":"0x108" } }
{ "kind":"replay", "uid":27, "timestamp":1558388052211435004, "event": "allocate", "payload": { "allocator_ref": "0x108", "size": 134 } }
{ "kind":"replay", "uid":27, "timestamp":1558388052211435005, "event": "allocate", "payload": { "allocator_ref": "0x108", "size": 134 }, "result": { "memory_ptr": "0x2010" } }
the program says something
{ "kind":"replay", "uid":27, "timestamp":1558388052211435006, "event": "allocate", "payload": { "allocator_ref": "0x101", "size": 50 } }
{ "kind":"replay", "uid":27, "timestamp":1558388052211435007, "event": "allocate", "payload": { "allocator_ref": "0x101", "size": 50 }, "result": { "memory_ptr": "0x3010" } }
{ "kind":"replay", "uid":27, "timestamp":1558388052211435008, "event": "allocate", "payload": { "allocator_ref": "0x108", "size": 99999 } }
{ "kind":"replay", "uid":27, "timestamp":1558388052211435009, "event": "deallocate", "payload": { "allocator_ref": "0x108", "memory_ptr": "0x2010" } }
{ "kind":"replay", "uid":27, "timestamp":1558388052211435010, "event": "reallocate", "payload": { "ptr": "0x3010", "size": 70} }
{ "kind":"replay", "uid":27, "timestamp":1558388052211435011, "event": "reallocate", "payload": { "ptr": "0x3010", "size": 70}, "result": { "memory_ptr": "0x3010" } }
{ "kind":"replay", "uid":28, "timestamp":1558388052211435012, "event": "allocate", "payload": { "allocator_ref": "0x555", "size": 1 } }
{ "kind":"replay", "uid":28, "timestamp":1558388052211435012, "event": "allocate", "payload": { "allocator_ref": "0x555", "size": 1 }, "result": { "memory_ptr": "0x3010" } }
{ "kind":"replay", "uid":27, "timestamp":1558388052211435013, "event": "deallocate", "payload": { "allocator_ref": "0x101", "memory_ptr": "0x3010" } }
{ "kind":"replay", "uid":27, "timestamp":1558388052211435014, "event": "deallocate", "payload": { "allocator_ref": "0x101", "memory_ptr": "0" } }
`
	umpireSecond = `{"category":"metadata","name":"version","numeric_args":{"major":2022},"string_args":{},"tags":{"replay":"true"},"timestamp":1700000000000000000}
{"category":"operation","name":"make_memory_resource","numeric_args":{"introspection":1},"string_args":{"allocator_ref":"0x101"},"tags":{"allocator_name":"HOST","replay":"true"},"timestamp":1700000000000000001}
{"category":"operation","name":"make_allocator","numeric_args":{"introspection":1},"string_args":{"allocator_ref":"0x108","arg0":"HOST","type":"N6umpire8strategy9QuickPoolE"},"tags":{"allocator_name":"pool, \"the\" one","replay":"true"},"timestamp":1700000000000000002}
{"category":"operation","name":"allocate","numeric_args":{"size":134},"string_args":{"allocator_ref":"0x108","pointer":"0x2010"},"tags":{"replay":"true"},"timestamp":1700000000000000003}
{"category":"statistic","name":"allocate","numeric_args":{"size":1},"string_args":{"pointer":"0x9"},"tags":{},"timestamp":1700000000000000003}
{"category":"operation","name":"named_allocate","numeric_args":{"size":50},"string_args":{"allocator_ref":"0x101","pointer":"0x3010","allocation_name":"x"},"tags":{"replay":"true"},"timestamp":1700000000000000004}
{"category":"operation","name":"allocate_resource","numeric_args":{"size":60},"string_args":{"allocator_ref":"0x999","pointer":"0x4010","resource":"Cuda"},"tags":{"replay":"true"},"timestamp":1700000000000000005}
{"category":"operation","name":"deallocate_resource","string_args":{"allocator_ref":"0x999","pointer":"0x4010", "resource":"Cuda"},"tags":{"replay":"true"},"timestamp":1700000000000000006}
{"category":"operation","name":"reallocate","numeric_args":{"size":99},"string_args":{"allocator_ref":"0x108","current_ptr":"0x2010"},"tags":{"allocator_name":"pool","replay":"true"},"timestamp":1700000000000000007}
{"category":"operation","name":"allocate","numeric_args":{"size":99},"string_args":{"allocator_ref":"0x108","pointer":"0x2110"},"tags":{"replay":"true"},"timestamp":1700000000000000008}
{"category":"operation","name":"deallocate","string_args":{"allocator_ref":"0x108","pointer":"0x2010"},"tags":{"replay":"true"},"timestamp":1700000000000000009}
{"category":"operation","name":"reallocate","numeric_args":{},"string_args":{"allocator_ref":"0x108","new_ptr":"0x2110"},"tags":{"allocator_name":"pool"},"timestamp":1700000000000000010}
{"category":"operation","name":"reallocate","numeric_args":{"size":70},"string_args":{"allocator_ref":"0x101","current_ptr":"0x3010"},"tags":{"allocator_name":"HOST","replay":"true"},"timestamp":1700000000000000011}
{"category":"operation","name":"reallocate","numeric_args":{},"string_args":{"allocator_ref":"0x101","new_ptr":"0x3510"},"tags":{"allocator_name":"HOST"},"timestamp":1700000000000000012}
{"category":"operation","name":"copy","numeric_args":{"size":5},"string_args":{"src":"0x3510","dst":"0x2110"},"tags":{"replay":"true"},"timestamp":1700000000000000013}
{"category":"operation","name":"deallocate","string_args":{"allocator_ref":"0x108","pointer":"(nil)"},"tags":{"replay":"true"},"timestamp":1700000000000000014}
`
	cupySample = `Training begins
{"hook":"alloc","device_id":0,"mem_size":512,"mem_ptr":4096}
{"hook":"malloc","device_id":0,"size":24,"mem_size":512,"mem_ptr":4096,"pmem_id":"0x7f39200c5278"}
{"hook":"malloc","device_id":1,"size":40,"mem_size":512,"mem_ptr":4096,"pmem_id":"0x7f39200c5279"}
{"epoch": 1}
{"hook":"free","device_id":0,"mem_size":512,"mem_ptr":4096,"pmem_id":"0x7f39200c5278"}
{"hook":"malloc","device_id":0,"size":2000000000,"mem_size":2000000000,"mem_ptr":0,"pmem_id":"0x0"}
{"hook":"malloc","device_id":0,"size":0,"mem_size":0,"mem_ptr":0,"pmem_id":"0x7f39200c5278"}
{"hook":"malloc","device_id":0,"size":100,"mem_size":512,"mem_ptr":4096}
{"hook":"free","device_id":0,"mem_size":512,"mem_ptr":4096}
`
)

// shown has a line for each op and each warning.
func shown(l *Log) (string, error) {
	var b strings.Builder
	for op, err := range l.All() {
		if err != nil {
			return b.String(), err
		}
		fmt.Fprintf(&b, "%v %d %d %q stream %d thread %d at %d\n", op.Kind, op.ID, op.Size, op.Key, op.Stream, op.Thread, op.TimeNS)
	}
	for _, warning := range l.Warnings() {
		fmt.Fprintln(&b, warning)
	}
	return b.String(), nil
}

func imported(text string) (string, error) {
	l, err := Import(strings.NewReader(text), "log")
	if err != nil {
		return "", err
	}
	return shown(l)
}

func TestImport(t *testing.T) {
	for _, c := range []struct{ format, text, want string }{
		{"RMM log", rmmSample, `
a 0 1000 "" stream 0 thread 140 at 0
a 1 2000 "" stream 2 thread 140 at 2000
f 0 1000 "" stream 0 thread 141 at 11000
a 2 3000 "" stream 0 thread 140 at 13000
f 2 3000 "" stream 0 thread 140 at 15000
trace: log: 1 failed allocations, left out, the first in line 5
`}, {"Umpire replay", umpireFirst, `
a 0 134 "pool" stream 0 thread 0 at 5
a 1 50 "HOST" stream 0 thread 0 at 7
f 0 134 "pool" stream 0 thread 0 at 9
g 1 70 "HOST" stream 0 thread 0 at 11
a 2 1 "0x555" stream 0 thread 0 at 12
f 1 70 "HOST" stream 0 thread 0 at 13
trace: log: 1 failed allocations, left out
trace: log: 1 lines or events of an unknown kind, left out, the first in line 8
`}, {"Umpire replay", umpireSecond, `
a 0 134 "pool, \"the\" one" stream 0 thread 0 at 3
a 1 50 "HOST" stream 0 thread 0 at 4
a 2 60 "0x999" stream 0 thread 0 at 5
f 2 60 "0x999" stream 0 thread 0 at 6
a 3 99 "pool, \"the\" one" stream 0 thread 0 at 8
f 0 134 "pool, \"the\" one" stream 0 thread 0 at 9
g 1 70 "HOST" stream 0 thread 0 at 12
`}, {"CuPy memory hook", cupySample, `
a 0 24 "0" stream 0 thread 0 at 0
a 1 40 "1" stream 0 thread 0 at 0
f 0 24 "0" stream 0 thread 0 at 0
a 2 100 "0" stream 0 thread 0 at 0
f 2 100 "0" stream 0 thread 0 at 0
trace: log: 1 failed allocations, left out, the first in line 7
trace: log: 2 lines or events of an unknown kind, left out, the first in line 1
`},
	} {
		for name, text := range map[string]string{
			"":         c.text,
			" zipped":  string(zipped(c.text)),
			" with CR": strings.ReplaceAll(c.text, "\n", "\r\n"),
		} {
			l, err := Import(strings.NewReader(text), "log")
			if err != nil {
				t.Errorf("%s%s: %v", c.format, name, err)
				continue
			}
			if got, err := shown(l); l.Format() != c.format || err != nil || got != c.want[1:] {
				t.Errorf("%s%s: a %s, %v:\n%swant:%s", c.format, name, l.Format(), err, got, c.want)
			}
		}
	}
}

// Lines for people stand in logs of any kind, so they tell nothing.
func TestImportLooksPastComments(t *testing.T) {
	for format, text := range map[string]string{"CuPy memory hook": cupySample, "Umpire replay": umpireSecond} {
		l, err := Import(strings.NewReader("# what\n\n"+text), "log")
		if err != nil || l.Format() != format {
			t.Errorf("%s: %v", format, err)
		}
	}
}

func torch(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "torch."+name+".pickle"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Python wrote the snapshots, see testdata/torch.py.
func TestImportTorch(t *testing.T) {
	const want = `a 0 512 "0" stream 3 thread 0 at 0
a 1 64 "0" stream 0 thread 0 at 0
a 2 500 "0" stream 3 thread 0 at 0
a 3 512 "2" stream 0 thread 0 at 0
a 4 1024 "2" stream 0 thread 0 at 0
f 0 512 "0" stream 3 thread 0 at 0
a 5 400 "1" stream 0 thread 0 at 1000
a 6 100 "0" stream 5 thread 0 at 2000
a 7 200 "0" stream 0 thread 0 at 4000
f 7 200 "0" stream 0 thread 0 at 5000
f 5 400 "1" stream 0 thread 0 at 5000
a 8 300 "0" stream 0 thread 0 at 6000
f 1 64 "0" stream 0 thread 0 at 8000
a 9 200 "0" stream 0 thread 0 at 11000
trace: log: 1 failed allocations, left out, the first in event 9
trace: log: 1 lines or events of an unknown kind, left out, the first in event 13
trace: log: 5 blocks were live before the first event and come first
`
	for protocol := range 6 {
		text := torch(t, fmt.Sprint(protocol))
		for _, text := range []string{text, string(zipped(text))} {
			if got, err := imported(text); err != nil || got != want {
				t.Errorf("protocol %d: %v:\n%swant:\n%s", protocol, err, got, want)
			}
		}
	}
}

func TestImportReportsWhatIsOdd(t *testing.T) {
	const rmm = "Thread,Time,Action,Pointer,Size,Stream\n"
	for text, want := range map[string]string{
		rmm + "1,t,free,0x1,8,0\n1,t,free,0x1,8,0\n": "trace: log: 2 frees of what was never allocated, left out, the first in line 2\n",
		rmm + "1,t,allocate,0x1,8,0\n1,t,allocate,0x1,9,0\n1,t,free,0x1,9,0\n": "a 0 8 \"\" stream 0 thread 1 at 0\n" +
			"f 0 8 \"\" stream 0 thread 1 at 0\na 1 9 \"\" stream 0 thread 1 at 0\nf 1 9 \"\" stream 0 thread 1 at 0\n" +
			"trace: log: 1 allocations of a pointer that was live, freed just before, the first in line 3\n",
		rmm + "1,t,allocate,0x1,8,0\n1,t,free,0x1,9,0\n": "a 0 8 \"\" stream 0 thread 1 at 0\nf 0 8 \"\" stream 0 thread 1 at 0\n" +
			"trace: log: 1 frees with another size than the allocation, which is kept, the first in line 3\n",
		rmm + "1,t,allocate,0x1,8,0": "trace: log:2: the line has no newline and was dropped: the file was cut short\n",
		rmm + "1,23:59:59.999990,allocate,0x1,8,0\n1,00:00:00.000001,free,0x1,8,0\n" +
			"2,23:59:59.999999,allocate,0x1,8,0\n2,00:00:00:000002,free,0x1,8,0\n2,23:59:59.999989,allocate,0x1,8,0\n": "a 0 8 \"\" stream 0 thread 1 at 0\n" +
			"f 0 8 \"\" stream 0 thread 1 at 11000\na 1 8 \"\" stream 0 thread 2 at 9000\nf 1 8 \"\" stream 0 thread 2 at 12000\na 2 8 \"\" stream 0 thread 2 at 0\n",
		`{"category":"operation","name":"reallocate","numeric_args":{"size":5},"string_args":{"current_ptr":"0x0"}}` + "\n" +
			strings.Repeat(`{"category":"operation","name":"reallocate","string_args":{"new_ptr":"0x1"}}`+"\n", 2): "a 0 5 \"\" stream 0 thread 0 at 0\n" +
			"trace: log: 1 lines or events of an unknown kind, left out, the first in line 3\n",
		`{"category":"operation","name":"reallocate","string_args":{"new_ptr":"0x1"}}` + "\n": "trace: log: 1 lines or events of an unknown kind, left out, the first in line 1\n",
		`{"category":"operation","name":"make_allocator","string_args":{"allocator_ref":"0x1"},"tags":{"allocator_name":"a\r\nb"}}` + "\n" +
			`{"category":"operation","name":"allocate","numeric_args":{"size":7},"string_args":{"allocator_ref":"0x1","pointer":"0x1"},"timestamp":-9223372036854775808}` + "\n" +
			`{"category":"operation","name":"deallocate","string_args":{"allocator_ref":"0x1","pointer":"0x1"},"timestamp":9223372036854775807}` + "\n": "a 0 7 \"a??b\" stream 0 thread 0 at 0\n" +
			"f 0 7 \"a??b\" stream 0 thread 0 at 9223372036854775807\n",
		`{"kind":"replay","uid":1,"event":"allocate","payload":{"allocator_ref":"0x1","size":5}}` + "\n": "trace: log: 1 failed allocations, left out\n",
		"\x80\x02}(X\x0d\x00\x00\x00device_traces]u.":                                                    "trace: log: the snapshot has no events, only what was live: _record_memory_history was not on\n",
	} {
		if got, err := imported(text); err != nil || got != want {
			t.Errorf("%q: %v:\n%swant:\n%s", text, err, got, want)
		}
	}
}

func TestImportRefuses(t *testing.T) {
	const rmm = "Thread,Time,Action,Pointer,Size,Stream\n"
	const umpire = `{"category":"operation","name":"make_memory_resource","string_args":{"allocator_ref":"%s"},"tags":{"allocator_name":"%s"}}` + "\n"
	long := strings.Repeat("x", 201)
	for text, want := range map[string]struct {
		line int
		text string
	}{
		"":                              {0, "it begins like no log that is known; known are RMM logs, PyTorch memory snapshots, Umpire replays and what CuPy's DebugPrintHook prints"},
		"\n# no log\n":                  {0, "it begins like no log"},
		"op,id,size\na,1,2\n":           {0, "it begins like no log"},
		`{"name":"x","category":"y"}`:   {0, "it begins like no log"},
		rmm + "1,t,resize,0x1,8,0\n":    {2, `action "resize"`},
		rmm + "1,t,allocate,0x1,-8,0\n": {2, `size "-8"`},
		rmm + "1,t,allocate,0x1,9223372036854775808,0\n":                                                                    {2, "value out of range"},
		rmm + "1,t,allocate,me,8,0\n":                                                                                       {2, `pointer "me"`},
		rmm + "1,t,allocate,0x1,8\n":                                                                                        {2, "5 fields"},
		rmm + "1,t,free,0x1,8,0\nx\n":                                                                                       {3, "1 fields"},
		cupySample + `{"hook":"malloc","device_id":0,"size":-1,"mem_ptr":1}` + "\n":                                         {11, `size "-1"`},
		cupySample + `{"hook":"free","device_id":0,"mem_ptr":"x"}` + "\n":                                                   {11, `mem_ptr "\"x\""`},
		umpireSecond + `{"category":"operation","name":"allocate","string_args":{"pointer":"0x1"}}` + "\n":                  {17, `size ""`},
		umpireSecond + `{"category":"operation","name":"allocate","string_args":[]}` + "\n":                                 {17, "json: cannot unmarshal"},
		umpireFirst + `{"kind":"replay","event":"allocate","payload":{"size":true},"result":{}}` + "\n":                     {19, `size "true"`},
		umpireSecond + fmt.Sprintf(umpire, "0x1", long):                                                                     {17, "201 bytes"},
		umpireSecond + fmt.Sprintf(umpire, long, "a"):                                                                       {17, "want at most"},
		umpireSecond + `{"category":"operation","name":"deallocate","string_args":{"allocator_ref":"` + long + `"}}` + "\n": {17, "201 bytes"},
		torch(t, "evil"): {0, "opcode STACK_GLOBAL: not plain data"},
		"\x80\x04}.":     {0, "a pickle without device_traces"},
		"\x80\x04].":     {0, "a pickle without device_traces"},
		"\x80\x02}(X\x0d\x00\x00\x00device_tracesK\x01u.":                                               {0, "int64 where a list belongs"},
		"\x80\x02}(X\x0d\x00\x00\x00device_traces]K\x01au.":                                             {0, "int64 where a list belongs"},
		"\x80\x02}(X\x0d\x00\x00\x00device_traces]]K\x01aau.":                                           {0, "event 1 of device 0 is no dict"},
		"\x80\x02}(X\x0d\x00\x00\x00device_traces]]}X\x06\x00\x00\x00actionX\x05\x00\x00\x00allocsaau.": {0, "event 1 of device 0: addr is no address"},
		"\x80\x02}(X\x0d\x00\x00\x00device_traces]]}(X\x06\x00\x00\x00actionX\x05\x00\x00\x00allocX\x04\x00\x00\x00addrK\x01X\x04\x00\x00\x00sizeJ\xff\xff\xff\xffuaau.": {0, "event 1 of device 0: size is no size"},
		// The same events for two devices, which could as well be for a million.
		"\x80\x02}(X\x0d\x00\x00\x00device_traces]]}aq\x00ah\x00au.":                                                                                                   {0, "one list in two places"},
		"\x80\x02}(X\x0d\x00\x00\x00device_traces]X\x08\x00\x00\x00segments]K\x01au.":                                                                                  {0, "<nil> where a list belongs"},
		"\x80\x02}(X\x0d\x00\x00\x00device_traces]X\x08\x00\x00\x00segments]}(X\x06\x00\x00\x00blocks]X\x06\x00\x00\x00deviceM\x00\x04uau.":                            {0, "device 1024"},
		"\x80\x02}(X\x0d\x00\x00\x00device_traces]X\x08\x00\x00\x00segments]}(X\x06\x00\x00\x00blocks]}(X\x05\x00\x00\x00stateX\x10\x00\x00\x00active_allocateduauau.": {0, "a block of device 0: address is no address"},
		"\x80\x02}(X\x0d\x00\x00\x00device_traces]X\x08\x00\x00\x00segmentsK\x01u.":                                                                                    {0, "int64 where a list belongs"},
	} {
		_, err := imported(text)
		var e *SyntaxError
		if !errors.As(err, &e) || e.Line != want.line || !errors.Is(err, ErrLog) || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%.300q: %v, want line %d, %s", text, err, want.line, want.text)
		}
	}
	for _, path := range []string{"executed", "testdata/executed"} {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a command has run: %v", err)
		}
	}
}

// A pickle that lacks its end is an error. Of lines the whole ones remain.
func TestImportOfEveryTruncation(t *testing.T) {
	whole := torch(t, "4")
	for n := range whole {
		if _, err := imported(whole[:n]); !errors.Is(err, ErrLog) {
			t.Fatalf("a pickle cut to %d bytes: %v", n, err)
		}
	}
	for _, whole := range []string{rmmSample, umpireFirst, umpireSecond, cupySample} {
		for n := range whole {
			got, err := imported(whole[:n])
			lines, _ := imported(whole[:strings.LastIndexByte(whole[:n], '\n')+1])
			if err == nil && !strings.HasPrefix(got, lines) || err != nil && !errors.Is(err, ErrLog) {
				t.Fatalf("cut to %d bytes: %v:\n%swant:\n%s", n, err, got, lines)
			}
		}
		packed := zipped(whole)
		for n := 2; n < len(packed); n++ {
			if _, err := imported(string(packed[:n])); err == nil {
				t.Fatalf("no error of a gzip file cut to %d bytes", n)
			}
		}
	}
}

// A line that fits no buffer is no event, and does not hide the ones behind it.
func TestImportSkipsLongLines(t *testing.T) {
	want, err := imported(cupySample)
	if err != nil {
		t.Fatal(err)
	}
	got, err := imported(strings.Replace(cupySample, `{"epoch": 1}`, strings.Repeat("x", 200_000), 1))
	if err != nil || got != want {
		t.Errorf("%v:\n%swant:\n%s", err, got, want)
	}
}

// A log can make an import remember names, but not any number.
func TestImportBoundsAllocators(t *testing.T) {
	var log strings.Builder
	for i := range 1<<14 + 1 {
		fmt.Fprintf(&log, `{"category":"operation","name":"make_allocator","string_args":{"allocator_ref":"%#x"},"tags":{"allocator_name":"a"}}`+"\n", i)
	}
	var e *SyntaxError
	if _, err := imported(log.String()); !errors.As(err, &e) || e.Line != 1<<14+1 || !strings.Contains(err.Error(), "more than 16384 allocators") {
		t.Error(err)
	}
	text := strings.ReplaceAll(log.String(), "make_allocator", "reallocate")
	text = strings.ReplaceAll(text, `"string_args":{`, `"numeric_args":{"size":1},"string_args":{"current_ptr":"0x1",`)
	last := fmt.Sprintf(`{"category":"operation","name":"reallocate","string_args":{"allocator_ref":"%#x","new_ptr":"0x2"}}`+"\n", 1<<14)
	if got, err := imported(text + last); err != nil || got != "trace: log: 1 lines or events of an unknown kind, left out, the first in line 16386\n" {
		t.Errorf("%v: %s", err, got)
	}
}

func TestImportStopsWithItsRange(t *testing.T) {
	l, err := Import(strings.NewReader(rmmSample), "log")
	if err != nil {
		t.Fatal(err)
	}
	for range l.All() {
		break
	}
	for op := range l.All() {
		t.Errorf("%v after the end", op)
	}
}

// roundTrip writes what an import makes and reads it again.
func roundTrip(t *testing.T, text string) {
	l, err := Import(strings.NewReader(text), "log")
	if err != nil {
		return
	}
	var file bytes.Buffer
	w := NewWriter(&file, l.Columns()...)
	var want []Op
	for op, err := range l.All() {
		if err != nil {
			break
		}
		if !slices.Contains(l.Columns(), "thread") {
			op.Thread = 0
		}
		want = append(want, op)
		if err := w.Write(op); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var got []Op
	for op, err := range NewReader(&file, "trace").All() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, op)
	}
	if !slices.Equal(got, want) {
		t.Errorf("read %v, wrote %v", got, want)
	}
}

func TestImportsSurviveTheirTrace(t *testing.T) {
	for _, text := range []string{rmmSample, umpireFirst, umpireSecond, cupySample, torch(t, "4")} {
		roundTrip(t, text)
	}
}

// Whatever a log holds, what is imported of it is a trace.
func fuzzImport(f *testing.F, samples ...string) {
	for _, text := range samples {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 || bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
			t.Skip("long inputs and compressed ones have tests of their own")
		}
		roundTrip(t, string(b))
	})
}

func FuzzImportRMM(f *testing.F)    { fuzzImport(f, rmmSample) }
func FuzzImportUmpire(f *testing.F) { fuzzImport(f, umpireFirst, umpireSecond) }
func FuzzImportCuPy(f *testing.F)   { fuzzImport(f, cupySample) }
func FuzzImportTorch(f *testing.F)  { fuzzImport(f, torch(f, "2"), torch(f, "4"), torch(f, "evil")) }

// A gzip error that is none of the log's own says so.
func TestImportTellsErrorsOfReading(t *testing.T) {
	if _, err := imported("\x1f\x8bnot gzip"); !errors.Is(err, gzip.ErrHeader) {
		t.Error(err)
	}
	whole := zipped(rmmSample)
	if _, err := imported(string(whole[:11])); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	if _, err := imported(string(whole[:len(whole)-4])); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}
