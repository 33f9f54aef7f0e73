//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package iobuf

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// idleBytes is what ReadReady holds while nothing comes.
const idleBytes = 0

// A spy is a connection that tells when a read begins to wait, and may wake it without a reason.
type spy struct {
	*net.TCPConn
	waits  chan struct{} // is sent to whenever a read has been told to wait
	goes   chan struct{} // if it is not nil, the read goes on when that has something
	nudges int           // how often the read is told that bytes may be there
}

func (s *spy) SyscallConn() (syscall.RawConn, error) {
	raw, err := s.TCPConn.SyscallConn()
	return spyRaw{raw, s}, err
}

type spyRaw struct {
	syscall.RawConn
	spy *spy
}

func (r spyRaw) Read(try func(fd uintptr) bool) error {
	return r.RawConn.Read(func(fd uintptr) bool {
		for i := 0; !try(fd); i++ {
			r.spy.waits <- struct{}{}
			if r.spy.goes != nil {
				<-r.spy.goes
			}
			if i >= r.spy.nudges {
				return false
			}
		}
		return true
	})
}

// While a connection is idle nothing is held, and nothing was even asked for: memory is taken once,
// when bytes are there.
func TestReadReadyHoldsNothing(t *testing.T) {
	p := openLine(t, "")
	here, there := connected(t)
	s := &spy{TCPConn: here, waits: make(chan struct{})}
	got := make(chan slab.PooledBuffer)
	go func() { got <- check.Ok(ReadReady(t.Context(), s, p, 5))(t) }()
	<-s.waits
	if st := p.Stats(); gets(p) != 0 || st.ActiveBytes != 0 {
		t.Errorf("an idle connection has asked for memory %d times and has %d bytes", gets(p), st.ActiveBytes)
	}
	check.Ok(there.Write([]byte("hello")))(t)
	h := <-got
	if string(h.Bytes()) != "hello" || gets(p) != 1 {
		t.Errorf("%q after %d Gets", h.Bytes(), gets(p))
	}
	mustRelease(t, h)
	checkNoneOut(t, p)
}

// Where another reader took the bytes the wait goes on, without memory.
func TestReadReadyAfterAFalseAlarm(t *testing.T) {
	p := openLine(t, "")
	here, there := connected(t)
	s := &spy{here, make(chan struct{}), make(chan struct{}), 2}
	got := make(chan slab.PooledBuffer)
	go func() { got <- check.Ok(ReadReady(t.Context(), s, p, 10))(t) }()
	for range 3 {
		<-s.waits
		checkNoneOut(t, p)
		s.goes <- struct{}{}
	}
	check.Ok(there.Write([]byte("hello")))(t)
	h := <-got
	if string(h.Bytes()) != "hello" {
		t.Errorf("%q", h.Bytes())
	}
	mustRelease(t, h)
}

// A context that ends wakes a read that waits.
func TestReadReadyIsWoken(t *testing.T) {
	p := openLine(t, "")
	here, there := connected(t)
	s := &spy{TCPConn: here, waits: make(chan struct{})}
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() { failed <- check.Err(ReadReady(ctx, s, p, 10)) }()
		<-s.waits
		cancel()
		check.Wraps(t, <-failed, context.Canceled)
	}
	check.Ok(there.Write([]byte("hello")))(t)
	mustRelease(t, check.Ok(ReadReady(t.Context(), s, p, 10))(t))
	checkNoneOut(t, p)
}

// A connection that is closed while a read waits, and one that the other side resets, are errors.
func TestReadReadyOfAConnectionThatEnds(t *testing.T) {
	p := openLine(t, "")
	here, _ := connected(t)
	s := &spy{TCPConn: here, waits: make(chan struct{})}
	failed := make(chan error)
	go func() { failed <- check.Err(ReadReady(t.Context(), s, p, 10)) }()
	<-s.waits
	check.Must(t, here.Close())
	check.Wraps(t, <-failed, net.ErrClosed)

	here, there := connected(t)
	check.Must(t, there.SetLinger(0), there.Close())
	check.Wraps(t, check.Err(ReadReady(t.Context(), here, p, 10)), syscall.ECONNRESET)
	checkNoneOut(t, p)
}

// A datagram is read whole or cut, and an empty one is no end.
func TestReadReadyOfDatagrams(t *testing.T) {
	p := openLine(t, "")
	here := check.Ok(net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}))(t)
	defer here.Close()
	there := check.Ok(net.Dial("udp", here.LocalAddr().String()))(t)
	defer there.Close()
	for _, sent := range []string{"hello, server", "", "hello"} {
		check.Ok(there.Write([]byte(sent)))(t)
		h := check.Ok(ReadReady(t.Context(), here, p, 8))(t)
		if !bytes.Equal(h.Bytes(), []byte(sent[:min(len(sent), 8)])) {
			t.Errorf("%q", h.Bytes())
		}
		mustRelease(t, h)
	}
	checkNoneOut(t, p)
}

// A blocked file tells when a second read of it begins: by then a first one has found no bytes.
type blocked struct {
	*os.File
	reads  int
	second chan struct{}
}

func (b *blocked) SyscallConn() (syscall.RawConn, error) {
	raw, err := b.File.SyscallConn()
	return blockedRaw{raw, b}, err
}

type blockedRaw struct {
	syscall.RawConn
	of *blocked
}

func (r blockedRaw) Read(try func(fd uintptr) bool) error {
	if r.of.reads++; r.of.reads == 2 {
		close(r.of.second)
	}
	return r.RawConn.Read(try)
}

// A pipe that blocks, as a process has it for its standard input, is waited for though the runtime cannot.
func TestReadReadyWaitsForAPipeThatBlocks(t *testing.T) {
	var ends [2]int
	if err := unix.Pipe(ends[:]); err != nil {
		t.Fatal(err)
	}
	c := &blocked{File: os.NewFile(uintptr(ends[0]), "in"), second: make(chan struct{})}
	out := os.NewFile(uintptr(ends[1]), "out")
	defer c.Close()
	type result struct {
		b   slab.PooledBuffer
		err error
	}
	got := make(chan result, 1)
	p := openLine(t, "")
	read := func() { b, err := ReadReady(t.Context(), c, p, 5); got <- result{b, err} }
	go read()
	select {
	case r := <-got:
		t.Fatalf("%d bytes without a wait: %v", r.b.Len(), r.err)
	case <-c.second:
	}
	if s := p.Stats(); s.ActiveBlocks != 0 {
		t.Error("memory is taken before bytes have come:", s)
	}
	check.Ok(out.WriteString("ab"))(t)
	r := <-got
	if r.err != nil || string(r.b.Bytes()) != "ab" {
		t.Errorf("%q: %v", r.b.Bytes(), r.err)
	}
	check.Must(t, r.b.Release(), out.Close())
	if read(); (<-got).err != io.EOF {
		t.Error("no end of the pipe")
	}
}
