package relief

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/internal/cgroup"
)

// grouped returns a system whose process is in a group of the hierarchy that is mounted at dir, of a version.
func grouped(dir, group string, version int) cgroup.System {
	own, kind := "0::/"+group, "cgroup2 cgroup2 rw"
	if version == 1 {
		own, kind = "7:memory:/"+group, "cgroup cgroup rw,memory"
	}
	return cgroup.Of(fstest.MapFS{
		"proc/self/cgroup":    {Data: []byte(own + "\n")},
		"proc/self/mountinfo": {Data: []byte("1 2 0:3 / " + dir + " rw - " + kind + "\n")},
		strings.TrimPrefix(filepath.Join(dir, group, "x"), "/"): {},
	})
}

// stall returns a folder with a named pipe in the place of a file of stall information: what is written to it can be
// read.
func stall(t *testing.T) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	file = filepath.Join(dir, "memory.pressure")
	if err := unix.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, file
}

// ended stops a waiter, and checks that its next wait says so.
func ended(t *testing.T, w waiter) {
	t.Helper()
	w.stop()
	if _, more := w.wait(time.Minute); more {
		t.Error("wait goes on after stop")
	}
}

// The first threshold of stall information that the system takes is the only one.
func TestOneThresholdOfStallInformation(t *testing.T) {
	dir, file := stall(t)
	pipe, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	if err := pipe.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil { // or nothing written would be no failure
		t.Fatal(err)
	}
	w := newWaiter(grouped(dir, "", 2))
	if files, failed := w.watched(); !slices.Equal(files, []string{file}) || len(failed) != 0 {
		t.Errorf("watches %q, failed %q", files, failed)
	}
	text := make([]byte, 512)
	n, err := pipe.Read(text)
	if got, want := string(text[:n]), triggers[0]+"\x00"; err != nil || got != want {
		t.Errorf("wrote %q, %v, not %q", got, err, want)
	}
	p := w.(*poller)
	for _, s := range p.sources {
		if !s.psi || s.drain {
			t.Errorf("an event of it does not say that memory is short: %+v", s)
		}
	}
	err = p.conn.Control(func(fd uintptr) {
		if event, any := p.take(int(fd)); any {
			t.Errorf("an event where there is none: %q", event)
		}
	})
	if err != nil {
		t.Error(err)
	}
	ended(t, w)
}

// A group of version 2 has one file of events, of which none says that memory is short.
func TestEventsOfVersion2(t *testing.T) {
	dir, _ := stall(t)
	file := filepath.Join(dir, cgroup.EventsFile)
	if err := unix.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWaiter(grouped(dir, "", 2))
	if files, failed := w.watched(); len(files) != 2 || files[0] != file || len(failed) != 0 {
		t.Errorf("watches %q, failed %q", files, failed)
	}
	for _, s := range w.(*poller).sources {
		if s.name == file && (s.psi || !s.drain) {
			t.Errorf("%+v", s)
		}
	}
	ended(t, w)
}

// A stop ends a wait, whether that has begun or not.
func TestStopEndsAWait(t *testing.T) {
	dir, _ := stall(t)
	for range 20 {
		w := newWaiter(grouped(dir, "", 2))
		over := make(chan bool)
		go func() {
			_, more := w.wait(time.Hour)
			over <- more
		}()
		runtime.Gosched()
		if w.stop(); <-over {
			t.Error("wait goes on after stop")
		}
	}
}

// A group of version 1 counts up an eventfd, which wait reads empty: an event wakes it once.
func TestEventsOfVersion1(t *testing.T) {
	dir := t.TempDir()
	control := filepath.Join(dir, "cgroup.event_control")
	for _, name := range []string{control, filepath.Join(dir, "memory.pressure_level")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := newWaiter(grouped(dir, "", 1))
	if files, _ := w.watched(); !slices.Contains(files, filepath.Join(dir, "memory.pressure_level")) {
		t.Fatalf("watches %q", files)
	}
	text, err := os.ReadFile(control)
	if err != nil {
		t.Fatal(err)
	}
	var event, of int
	var level string
	if _, err := fmt.Sscan(string(text), &event, &of, &level); err != nil || level != "medium" {
		t.Fatalf("wrote %q: %v", text, err)
	}
	if _, err := unix.Write(event, binary.NativeEndian.AppendUint64(nil, 1)); err != nil {
		t.Fatal(err)
	}
	if _, more := w.wait(time.Minute); !more { // all that is pending, so stall information of the machine may be in it
		t.Error("an event ends the waiter")
	}
	if _, err := unix.Read(event, make([]byte, 8)); err != unix.EAGAIN {
		t.Errorf("the event is still there: %v", err)
	}
	ended(t, w)
}

// opened counts the open files that events come from.
func opened(t *testing.T) (n int) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	for _, e := range list {
		at, _ := os.Readlink("/proc/self/fd/" + e.Name()) // but for that of the list
		if strings.Contains(at, "[event") || strings.HasPrefix(at, "/proc/pressure") || strings.HasPrefix(at, os.TempDir()) {
			n++
		}
	}
	return n
}

// A group of version 1 that has a limit tells of two shares of it, too. Whether a group takes what is written or does not,
// all files are closed in the end.
func TestThresholdsOfVersion1(t *testing.T) {
	for _, takes := range []bool{true, false} {
		before := opened(t)
		dir := t.TempDir()
		control := filepath.Join(dir, "cgroup.event_control")
		for name, text := range map[string]string{"memory.pressure_level": "", "memory.limit_in_bytes": "1000000\n", "memory.usage_in_bytes": "0\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if !takes {
			if err := os.Mkdir(control, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		w := newWaiter(grouped(dir, "", 1))
		files, failed := w.watched()
		of := func(list []string) (n int) { // the rest is of stall information
			for _, text := range list {
				n += strings.Count(text, dir)
			}
			return n
		}
		if takes {
			if text, err := os.ReadFile(control); of(files) != 3 || of(failed) != 0 || !strings.HasSuffix(string(text), " 950000") {
				t.Errorf("watches %q, failed %q, wrote %q last: %v", files, failed, text, err)
			}
		} else if of(files) != 0 || of(failed) != 3 {
			t.Errorf("watches %q, failed %q", files, failed)
		}
		if ended(t, w); opened(t) != before {
			t.Errorf("takes %v: %d files became %d", takes, before, opened(t))
		}
	}
}

// A file that is missing is no failure, as most systems have only one version; others are.
func TestWhatFails(t *testing.T) {
	p := new(poller)
	for err, want := range map[error]int{fs.ErrNotExist: 0, unix.EOPNOTSUPP: 0, unix.EACCES: 1} {
		p.failed = nil
		if p.fails(fmt.Errorf("a file: %w", err)); len(p.failed) != want {
			t.Errorf("%v: %q", err, p.failed)
		}
	}
}

// A file that the system does not watch is a failure, and is closed again.
func TestAFileThatIsNotWatched(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWaiter(cgroup.Of(fstest.MapFS{}))
	p, before := w.(*poller), opened(t)
	p.failed = nil
	if p.open(source{name: file}, unix.O_RDWR, "text") || len(p.failed) != 1 || !strings.Contains(p.failed[0], file) || opened(t) != before {
		t.Errorf("failed %q, %d files became %d", p.failed, before, opened(t))
	}
	if text, err := os.ReadFile(file); string(text) != "text\x00" {
		t.Errorf("wrote %q, %v", text, err)
	}
	ended(t, w)
}

// Where nothing happens wait ends when time is up.
func TestWaitEnds(t *testing.T) {
	w := newWaiter(cgroup.Of(fstest.MapFS{}))
	if _, more := w.wait(0); !more {
		t.Error("the waiter has ended")
	}
	ended(t, w)
}

// A source whose group was removed says so at each look. It is heard once.
func TestARemovedGroupIsHeardOnce(t *testing.T) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	w, ok := newWaiter(cgroup.Of(fstest.MapFS{})).(*poller)
	if !ok {
		t.Fatal("no poller")
	}
	if !w.add(source{fd: pipe[0], name: "removed", psi: true}, unix.EPOLLPRI) {
		t.Fatalf("failed %q", w.failed)
	}
	unix.Close(pipe[1]) // the system says so of a removed group by an event of the same kind
	for i, want := range []bool{true, false} {
		var event string
		err := w.conn.Control(func(fd uintptr) { event, _ = w.take(int(fd)) })
		if err != nil || strings.HasSuffix(event, "removed") != want {
			t.Errorf("look %d: %q, %v", i, event, err)
		}
	}
	ended(t, w)
}

// Where a group has no stall information, that of the group around it is watched.
func TestStallInformationOfTheGroupAround(t *testing.T) {
	dir, file := stall(t)
	w := newWaiter(grouped(dir, "own", 2))
	if files, failed := w.watched(); !slices.Equal(files, []string{file}) || len(failed) != 0 {
		t.Errorf("watches %q, failed %q", files, failed)
	}
	ended(t, w)
}
