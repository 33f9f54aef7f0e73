package soak

import (
	"errors"
	"go/version"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"testing"

	"github.com/bufslab/bufslab/slab"
)

// quiet takes what pools log: of forgotten buffers, mostly.
var quiet = slog.New(slog.DiscardHandler)

// Child is set in the environment of processes that [Line] starts: they have nothing to do.
const Child = "BUFSLAB_STRESS_CHILD"

// change changes one thing.
func (x *weather) change(w *worker) {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := w.r
	switch k := r.IntN(100); {
	case k < 20:
		runtime.GOMAXPROCS(1 + r.IntN(8))
	case k < 40:
		debug.SetGCPercent([]int{10, 50, 100, 400, -1}[r.IntN(5)])
	case k < 50:
		debug.SetMemoryLimit([]int64{32 << 20, 1 << 30, 1 << 62}[r.IntN(3)])
	case k < 60:
		w.pool.FreeHeld()
	case k < 70:
		w.pool.Trim(r.IntN(3))
	case k < 75:
		x.profile(w.run)
	case k < 76:
		w.must("a heap dump", dumpHeap())
	case k < 77:
		w.must("a process", start())
	case k < 80:
		runtime.GC()
	case k < 85:
		w.must("WriteProfile", w.pool.WriteProfile(io.Discard))
	case k < 88:
		if err := w.pool.SetMaxBytes(w.run.bound >> r.IntN(2)); !errors.Is(err, slab.ErrClosed) {
			w.must("SetMaxBytes", err)
		}
	case k < 92:
		w.pool.Leaks()
		w.pool.Fragmentation()
	default:
		look(w)
	}
}

// profile begins a profile of the processors, or ends it.
func (x *weather) profile(s *run) {
	if x.profiling {
		pprof.StopCPUProfile()
		x.profiling = false
		return
	}
	err := pprof.StartCPUProfile(io.Discard)
	x.profiling = err == nil
	s.must("a profile", err)
}

func (x *weather) end() {
	if x.profiling {
		pprof.StopCPUProfile()
	}
}

// settle returns a function that sets back what weather changes.
func settle() func() {
	processors, percent, limit := runtime.GOMAXPROCS(0), debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	return func() {
		runtime.GOMAXPROCS(processors)
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// dumpHeap has the runtime look at every object. From Go 1.26 on it does nothing: there WriteHeapDump ends the process
// ("dumpgs in STW - bad status") where another goroutine is about to leave a system call.
func dumpHeap() error {
	if version.Compare(runtime.Version(), "go1.26") >= 0 {
		return nil
	}
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	debug.WriteHeapDump(f.Fd())
	return nil
}

// start has a process of its own begin, and end.
func start() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(self)
	if testing.Testing() {
		c.Args = append(c.Args, "-test.run=^$")
	}
	c.Env = append(os.Environ(), Child+"=1")
	return c.Run()
}

// look reads every figure. Some can never be below 0.
func look(w *worker) {
	st := w.pool.Stats()
	if st.ManagedBytes < 0 || st.Forgotten < 0 || st.PeakManagedBytes < 0 {
		w.violation("Stats: %v", st)
	}
	for range w.pool.Metrics() {
	}
}
