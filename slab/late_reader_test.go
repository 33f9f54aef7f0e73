package slab

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// A slice off the heap lives as long as its handle (open-telemetry/opentelemetry-ebpf-profiler#877).
// A program that keeps the slice alone faults after a collection; one that uses it in With, or keeps the
// handle until it is done, never does.
func TestASliceLivesAsLongAsItsHandle(t *testing.T) {
	rounds := long(t, 10)
	for name, c := range map[string]struct {
		use  func(t *testing.T, p *Pool) (faulted bool)
		want func(faulted int) bool
	}{
		"With":         {useWith, func(n int) bool { return n == 0 }},
		"KeepAlive":    {useKept, func(n int) bool { return n == 0 }},
		"a slice only": {useSlice, func(n int) bool { return n > 0 }},
	} {
		t.Run(name, func(t *testing.T) {
			p := openPool(t, "mmap", Config{})
			n := 0
			for range rounds {
				if c.use(t, p) {
					n++
				}
			}
			t.Logf("%d of %d rounds faulted", n, rounds)
			if !c.want(n) {
				t.Errorf("%d of %d rounds faulted", n, rounds)
			}
		})
	}
}

func useWith(t *testing.T, p *Pool) (faulted bool) {
	if err := mustGet(t, p, 64<<10).With(func(m []byte) { faulted = writeSlowly(m) }); err != nil {
		t.Error(err)
	}
	return faulted
}

func useKept(t *testing.T, p *Pool) bool {
	b := mustGet(t, p, 64<<10)
	faulted := writeSlowly(b.Bytes())
	runtime.KeepAlive(b)
	return faulted
}

func useSlice(t *testing.T, p *Pool) bool { return writeSlowly(mustGet(t, p, 64<<10).Bytes()) }

// writeSlowly writes to m before and after a collection, and reports whether that faulted.
func writeSlowly(m []byte) bool {
	m[0] = 1
	cycle()
	return faults(&m[len(m)/2])
}

// Without a handler the fault ends the program, and its text is what leaks.md has.
func TestALateReadEndsTheProgram(t *testing.T) {
	const name = "BUFSLAB_TEST_LATE"
	if os.Getenv(name) != "" {
		p := openPool(t, "mmap", Config{})
		var view []byte
		forgetOne(t, p, 1<<20, func(b PooledBuffer) { view = b.Bytes() })
		collect(p, func(s Stats) bool { return s.Forgotten == 1 })
		device.Fill(view, 1)
		return
	}
	check.StartsItself(t)
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), name+"=1")
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || !strings.Contains(string(out), "unexpected fault address") {
		t.Errorf("%v: %s", err, out)
	}
}

// A system call with such a slice does not fault: it fails, and the program may take that for a fault of its peer.
func TestALateReadByASystemCallFails(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what the system says is looked at on linux only")
	}
	p := openPool(t, "mmap", Config{})
	var view []byte
	forgetOne(t, p, 1<<20, func(b PooledBuffer) { view = b.Bytes() })
	collect(p, func(s Stats) bool { return s.Forgotten == 1 })
	r, w, err := os.Pipe()
	check.Must(t, err)
	defer r.Close()
	defer w.Close()
	if _, err := w.Write(view[:1]); !errors.Is(err, syscall.EFAULT) || !strings.Contains(err.Error(), "bad address") {
		t.Error(err)
	}
}
