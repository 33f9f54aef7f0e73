package main

import (
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
)

// weather is what a process lives through while its pools work.
type weather struct {
	mu        sync.Mutex // one change at a time
	profiling bool
}

// quiet takes what pools log: of forgotten buffers, mostly.
var quiet = slog.New(slog.DiscardHandler)

// childEnv is set for the processes that a stress starts.
const childEnv = "BUFSLAB_STRESS_CHILD"

// change changes one thing.
func (x *weather) change(s *stress, r *rand.Rand) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch k := r.IntN(100); {
	case k < 20:
		runtime.GOMAXPROCS(1 + r.IntN(8))
	case k < 40:
		debug.SetGCPercent([]int{10, 50, 100, 400, -1}[r.IntN(5)])
	case k < 50:
		debug.SetMemoryLimit([]int64{32 << 20, 1 << 30, 1 << 62}[r.IntN(3)])
	case k < 60:
		s.pool.FreeHeld()
	case k < 70:
		s.pool.Trim(r.IntN(3))
	case k < 75:
		x.profile(s)
	case k < 76:
		s.must("a heap dump", dumpHeap())
	case k < 77:
		s.must("a process", start())
	case k < 80:
		runtime.GC()
	case k < 85:
		s.must("WriteProfile", s.pool.WriteProfile(io.Discard))
	case k < 90:
		s.pool.Leaks()
		s.pool.Fragmentation()
	default:
		look(s)
	}
}

// profile begins a profile of the processors, or ends it.
func (x *weather) profile(s *stress) {
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

// dumpHeap has the runtime look at every object.
func dumpHeap() error {
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
	c.Env = append(os.Environ(), childEnv+"=1")
	return c.Run()
}

// look reads every figure. Some can never be below 0.
func look(s *stress) {
	st := s.pool.Stats()
	if st.ManagedBytes < 0 || st.Forgotten < 0 || st.PeakManagedBytes < 0 {
		s.violation("Stats: %v", st)
	}
	for range s.pool.Metrics() {
	}
}
