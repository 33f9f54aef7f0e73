package slab

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/canary"
)

func TestCheckFindsWhoWritesBeyond(t *testing.T) {
	for _, strategy := range Strategies() {
		for _, c := range []struct {
			at   int
			want string
		}{{100, "after"}, {163, "after"}, {-1, "before"}, {-64, "before"}} {
			p := openPool(t, "mmap", Config{Strategy: strategy, Check: true})
			b, _ := p.Get(100)
			all := device.Bytes(device.Block{Region: b.Block().Region, Off: b.Block().Off - 64, Len: 228})
			all[64+c.at]++
			func() {
				defer func() {
					s := fmt.Sprint(recover())
					if !strings.HasPrefix(s, "slab: something wrote "+c.want+" a block of 100 bytes, allocated at ") ||
						!strings.Contains(s, "check_test.go:") {
						t.Errorf("%s: byte %d: %s", strategy, c.at, s)
					}
				}()
				b.Release()
			}()
			if s := p.Stats(); s.ActiveBlocks != 0 {
				t.Errorf("%s: %+v", strategy, s)
			}
			if err := mustGet(t, p, 100).Release(); err != nil {
				t.Errorf("%s: the pool does not go on: %v", strategy, err)
			}
			checkQuiet(t, p)
		}
	}
}

// checkOn is the Check of a pool on a strategy.
func checkOn(s Allocator) canaried {
	return canaried{forwardTo(s), canary.New(s, 1, slog.Default), s}
}

// faultsOf closes a pool and returns what its Check reported.
func faultsOf(p *Pool) []string {
	var e *CheckError
	if errors.As(p.Close(), &e) {
		return e.Faults
	}
	return nil
}

// Check reports nothing of a program that only forgets buffers.
func TestCheckReportsNothingBesideForgottenBuffers(t *testing.T) {
	p := openPool(t, "heap", Config{Check: true})
	var programs sync.WaitGroup
	for range 2 {
		programs.Go(func() {
			for i := range bounded(t, long(t, 20_000), 200*time.Millisecond) {
				b := mustGet(t, p, 1000+i*37%8000)
				device.Fill(b.Bytes(), byte(i))
				if i%20 != 0 {
					mustRelease(t, b)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { programs.Wait(); close(done) }()
	for running := true; running; {
		runtime.GC()
		select {
		case <-done:
			running = false
		default:
		}
	}
	if f := faultsOf(p); len(f) != 0 {
		t.Error(f[0])
	}
}

// A canary that is dead when a buffer is found forgotten is reported by Close: a panic
// on the finalizer goroutine would end the process.
func TestCheckReportsAForgottenBufferThatWasWrittenBeyond(t *testing.T) {
	p := openPool(t, "heap", Config{Check: true})
	func() {
		b := mustGet(t, p, 1000)
		*(*byte)(unsafe.Add(unsafe.Pointer(&b.Bytes()[0]), 1000))++
	}()
	eventually(t, "a buffer is found forgotten", func() bool { cycle(); return p.Stats().Forgotten == 1 })
	f := faultsOf(p)
	if len(f) != 1 || !strings.HasPrefix(f[0], "slab: something wrote after a block of 1000 bytes, allocated at ") {
		t.Errorf("%q", f)
	}
}

// So is one of a buffer that was released while a stream used it.
func TestCheckReportsABufferThatAStreamWroteBeyond(t *testing.T) {
	p := openPool(t, "mmap", Config{Check: true})
	s := &queue{}
	b := used(t, mustGet(t, p, 1000), s)
	*(*byte)(unsafe.Add(unsafe.Pointer(&b.Bytes()[0]), -1))++
	mustRelease(t, b)
	s.Finish()
	mustRelease(t, mustGet(t, p, 1000))
	if f := faultsOf(p); len(f) != 1 || !strings.HasPrefix(f[0], "slab: something wrote before a block of 1000 bytes") {
		t.Errorf("%q", f)
	}
}

func TestCheckPanicsOnceOfABlockThatAPoolReleased(t *testing.T) {
	p := openPool(t, "mmap", Config{Check: true})
	b := mustGet(t, p, 1000)
	*(*byte)(unsafe.Add(unsafe.Pointer(&b.Bytes()[0]), 1000))++
	if !doesPanic(func() { b.Release() }) {
		t.Error("no panic")
	}
	if f := faultsOf(p); len(f) != 0 {
		t.Errorf("reported again: %q", f)
	}
}
