package relief

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/internal/cgroup"
)

// A poller sleeps in an epoll file that has all files that may wake it. The runtime's own poller waits
// for the epoll file, so no thread sleeps here.
type poller struct {
	file    *os.File
	conn    syscall.RawConn
	stopped atomic.Bool
	sources map[int32]*source
	files   []string
	failed  []string
}

// A source is a file that reports events.
type source struct {
	fd    int
	name  string
	drain bool // a read makes it quiet again
	psi   bool // an event says that memory is short; events of other sources only say to look
}

func newWaiter(s cgroup.System) waiter {
	p := &poller{sources: map[int32]*source{}}
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return newClock() // it cannot have one more file
	}
	_ = unix.SetNonblock(fd, true)
	p.file = os.NewFile(uintptr(fd), "epoll")
	if p.conn, err = p.file.SyscallConn(); err != nil || p.file.SetReadDeadline(time.Now().Add(time.Hour)) != nil {
		p.file.Close()
		return newClock() // it cannot have one more file
	}
	for _, g := range s.Groups() {
		p.addGroup(g)
	}
	p.addStall(s)
	return p
}

// addGroup adds the files that report events of a group.
func (p *poller) addGroup(g cgroup.Group) {
	dir := "/" + g.Dir
	if g.Version == 2 {
		p.open(source{name: path.Join(dir, cgroup.EventsFile), drain: true}, unix.O_RDONLY, "")
		return
	}
	p.addVersion1(dir, "memory.pressure_level", "medium")
	if limit := cgroup.Machine().Usage(g, 1).Limit; limit > 0 {
		for _, share := range []float64{shortAt, (1 + shortAt) / 2} {
			p.addVersion1(dir, "memory.usage_in_bytes", fmt.Sprint(int64(share*float64(limit))))
		}
	}
}

// addVersion1 adds an eventfd that version 1 counts up as it says.
func (p *poller) addVersion1(dir, file, when string) {
	of, err := os.Open(path.Join(dir, file))
	if err != nil {
		p.fails(err)
		return
	}
	defer of.Close()
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		p.fails(err)
		return
	}
	line := fmt.Sprintf("%d %d %s", fd, of.Fd(), when)
	if err := os.WriteFile(path.Join(dir, "cgroup.event_control"), []byte(line), 0); err != nil {
		unix.Close(fd)
		p.fails(err)
		return
	}
	p.add(source{fd: fd, name: path.Join(dir, file), drain: true}, unix.EPOLLIN)
}

// triggers are written to the file of stall information. The first number is the time for which some
// task waited for memory, the second the window, in microseconds. Without privileges windows are
// multiples of 2 seconds.
var triggers = []string{"some 150000 1000000", "some 300000 2000000"}

// addStall adds the stall information of the group of version 2 that has it, else of the machine.
func (p *poller) addStall(s cgroup.System) {
	names := []string{}
	for _, g := range s.Groups() {
		if g.Version == 2 {
			names = append(names, path.Join("/", g.Dir, "memory.pressure"))
		}
	}
	before := len(p.failed)
	for _, name := range append(names, "/proc/pressure/memory") {
		for _, t := range triggers {
			if p.open(source{name: name, psi: true}, unix.O_RDWR, t) {
				p.failed = p.failed[:before]
				return
			}
		}
	}
}

// open opens a file, writes tell to it if that is not empty, and watches the file.
func (p *poller) open(s source, how int, tell string) bool {
	fd, err := unix.Open(s.name, how|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err == nil && tell != "" {
		if _, err = unix.Write(fd, append([]byte(tell), 0)); err != nil {
			unix.Close(fd)
		}
	}
	if err != nil {
		p.fails(fmt.Errorf("%s: %w", s.name, err))
		return false
	}
	s.fd = fd
	return p.add(s, unix.EPOLLPRI)
}

// add watches an open file.
func (p *poller) add(s source, events uint32) bool {
	var err error
	outer := p.conn.Control(func(epoll uintptr) {
		err = unix.EpollCtl(int(epoll), unix.EPOLL_CTL_ADD, s.fd, &unix.EpollEvent{Events: events, Fd: int32(s.fd)})
	})
	if err := errors.Join(outer, err); err != nil {
		unix.Close(s.fd)
		p.fails(fmt.Errorf("%s: %w", s.name, err))
		return false
	}
	p.sources[int32(s.fd)] = &s
	p.files = append(p.files, s.name)
	return true
}

// fails notes an error, except for missing files: most systems have only one of the two versions.
func (p *poller) fails(err error) {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.EOPNOTSUPP) {
		p.failed = append(p.failed, err.Error())
	}
}

func (p *poller) watched() (files, failed []string) { return p.files, p.failed }

func (p *poller) wait(d time.Duration) (event string, more bool) {
	_ = p.file.SetReadDeadline(time.Now().Add(d))
	if p.stopped.Load() { // stop may have set its deadline before
		p.close()
		return "", false
	}
	_ = p.conn.Read(func(fd uintptr) (done bool) {
		event, done = p.take(int(fd))
		return done
	})
	if p.stopped.Load() {
		p.close()
		return "", false
	}
	return event, true
}

// take takes all pending events, and returns the event of stall information.
func (p *poller) take(fd int) (event string, any bool) {
	var list [16]unix.EpollEvent
	n, _ := unix.EpollWait(fd, list[:], 0)
	for _, e := range list[:max(n, 0)] {
		s := p.sources[e.Fd]
		if s == nil {
			continue
		}
		if s.psi {
			event = "tasks wait for memory: " + s.name
		}
		if s.drain {
			var text [512]byte
			_, _ = unix.Pread(int(e.Fd), text[:], 0)
			_, _ = unix.Read(int(e.Fd), text[:])
		}
		if e.Events&(unix.EPOLLERR|unix.EPOLLHUP) != 0 && s.psi { // its group was removed
			_ = unix.EpollCtl(fd, unix.EPOLL_CTL_DEL, int(e.Fd), nil)
		}
	}
	return event, n > 0
}

// stop wakes wait, which closes the files: nothing uses them any more.
func (p *poller) stop() {
	p.stopped.Store(true)
	_ = p.file.SetReadDeadline(time.Unix(1, 0))
}

func (p *poller) close() {
	for _, s := range p.sources {
		unix.Close(s.fd)
	}
	p.file.Close()
}
