package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/bufslab/bufslab/iobuf"
	"github.com/bufslab/bufslab/slab"
)

const (
	bufferBytes  = 32 << 10
	helloBytes   = 32 << 10 // what each connection has sent once, so that its buffer was used
	messageBytes = 1000
	talkers      = 4 // goroutines that send
)

// servers are the ways to serve a connection, which here answers with what it gets. What is small
// in memory comes first: the system may leave the next one pages.
var servers = []struct {
	name  string
	serve func(c *net.TCPConn, p *slab.Pool) error
}{
	{"ReadReady", whenReady},
	{"a pooled buffer each", withPooled},
	{"a made buffer each", withMade},
}

// whenReady has memory while there is something to answer.
func whenReady(c *net.TCPConn, p *slab.Pool) error {
	for {
		b, err := iobuf.ReadReady(context.Background(), c, p, bufferBytes)
		if err != nil {
			return err
		}
		_, err = c.Write(b.Bytes())
		if err := errors.Join(err, b.Release()); err != nil {
			return err
		}
	}
}

func withPooled(c *net.TCPConn, p *slab.Pool) error {
	b, err := p.Get(bufferBytes)
	if err != nil {
		return err
	}
	return errors.Join(answerWith(c, b.Bytes()), b.Release())
}

func withMade(c *net.TCPConn, _ *slab.Pool) error { return answerWith(c, make([]byte, bufferBytes)) }

func answerWith(c *net.TCPConn, buffer []byte) error {
	for {
		n, err := c.Read(buffer)
		if err != nil {
			return err
		}
		if _, err := c.Write(buffer[:n]); err != nil {
			return err
		}
	}
}

// A cost is what connections take.
type cost struct {
	idle, most int64 // ActiveBytes of the pool
	resident   int   // bytes, beyond those before the first connection, clients included
	message    time.Duration
}

// measure serves connections, and has some of them talk.
func measure(serve func(*net.TCPConn, *slab.Pool) error, connections, talking, messages int) (c cost, err error) {
	p := slab.MustOpen("")
	defer func() { err = errors.Join(err, p.Close()) }()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return c, err
	}
	var served sync.WaitGroup
	served.Go(func() { acceptAll(l, func(c *net.TCPConn) { serve(c, p) }, &served) })
	defer func() {
		l.Close()
		served.Wait()
	}()
	debug.FreeOSMemory()
	before := resident()
	clients, err := connect(l.Addr().String(), connections)
	defer func() {
		for _, c := range clients {
			c.Close()
		}
	}()
	if err != nil {
		return c, err
	}
	awaitIdle(p)
	debug.FreeOSMemory()
	c.idle, c.resident = p.Stats().ActiveBytes, resident()-before
	c.message, c.most, err = talk(clients[:talking], p, messages)
	return c, err
}

func acceptAll(l net.Listener, serve func(*net.TCPConn), served *sync.WaitGroup) {
	for {
		c, err := l.Accept()
		if err != nil {
			return // it was closed
		}
		served.Go(func() {
			defer c.Close()
			serve(c.(*net.TCPConn))
		})
	}
}

// connect opens connections, each of which says hello and reads the answer.
func connect(to string, n int) (list []net.Conn, err error) {
	hello, answer := make([]byte, helloBytes), make([]byte, helloBytes)
	for range n {
		c, err := net.Dial("tcp", to)
		if err != nil {
			return list, fmt.Errorf("after %d connections: %w", len(list), err)
		}
		list = append(list, c)
		if err := exchange(c, hello, answer); err != nil {
			return list, err
		}
	}
	return list, nil
}

func exchange(c net.Conn, message, answer []byte) error {
	if _, err := c.Write(message); err != nil {
		return err
	}
	_, err := io.ReadFull(c, answer)
	return err
}

// awaitIdle waits until all buffers have gone back, but no longer than a second: not every server here
// gives them back.
func awaitIdle(p *slab.Pool) {
	for end := time.Now().Add(time.Second); p.Stats().ActiveBytes > 0 && time.Now().Before(end); {
		runtime.Gosched()
	}
}

// talk sends messages, each when the one before was answered. Each talker has connections of its own.
func talk(list []net.Conn, p *slab.Pool, messages int) (each time.Duration, most int64, err error) {
	talkers := min(talkers, len(list))
	peaks, errs := make([]int64, talkers), make([]error, talkers)
	var all sync.WaitGroup
	began := time.Now()
	for t := range talkers {
		mine := list[t*len(list)/talkers : (t+1)*len(list)/talkers]
		all.Go(func() {
			message, answer := make([]byte, messageBytes), make([]byte, messageBytes)
			for i := 0; i < messages/talkers && errs[t] == nil; i++ {
				errs[t] = exchange(mine[i%len(mine)], message, answer)
				peaks[t] = max(peaks[t], p.Stats().ActiveBytes)
			}
		})
	}
	all.Wait()
	return time.Since(began) / time.Duration(messages), slices.Max(peaks), errors.Join(errs...)
}

// resident returns the memory that the program has of the system, or 0 where it is not Linux.
func resident() int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int
	fmt.Sscan(string(text), &size, &pages)
	return pages * os.Getpagesize()
}
