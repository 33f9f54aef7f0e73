package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Of two runs one does no more than warm a pool up, and the other countedOps as well: their difference has no
// start-up in it.
const (
	warmOps    = 1 << 16
	countedOps = 1 << 16
)

// A counter runs this program under cachegrind. It has a copy of its own, so that the
// figures do not depend on how this one was built.
type counter struct {
	dir, program string
	tries        int // of each run
}

// newCounter builds the copy, static and without symbols. close deletes it.
func newCounter(tries int) (c counter, err error) {
	c.tries = tries
	if c.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return c, err
	}
	c.program = filepath.Join(c.dir, "bench")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s", "-o", c.program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		return c, fmt.Errorf("%v: %w\n%s", build, err, said)
	}
	return c, nil
}

func (c counter) close() { os.RemoveAll(c.dir) }

// operation counts the instructions of an operation on a pool, with the harness in it.
func (c counter) operation(pool string, w workload) (float64, error) {
	short, err := c.least(pool, w, 0)
	if err != nil {
		return 0, err
	}
	long, err := c.least(pool, w, countedOps)
	return float64(long-short) / countedOps, err
}

// least is the run with the fewest instructions of all tries. What the runtime does beside, and
// the order in which two goroutines come to run, can add to one, and takes nothing from it.
func (c counter) least(pool string, w workload, ops int) (fewest int64, err error) {
	for try := range c.tries {
		found, err := c.run(pool+"/"+w.name, ops)
		if err != nil {
			return 0, err
		}
		if try == 0 || found < fewest {
			fewest = found
		}
	}
	return fewest, nil
}

// run counts a whole run. Nothing in it may depend on time or on chance: one processor, no
// collector, no preemption. Valgrind 3.19 does not know RDTSCP where the processor has it.
func (c counter) run(one string, ops int) (int64, error) {
	out, err := os.CreateTemp(c.dir, "cachegrind")
	if err != nil {
		return 0, err
	}
	defer out.Close()
	run := exec.Command("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file="+out.Name(),
		c.program, "-one", one, "-ops", strconv.Itoa(ops))
	run.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1,cpu.rdtscp=off")
	if said, err := run.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%v: %w\n%s", run, err, said)
	}
	f, err := os.Open(out.Name()) // valgrind has made it anew
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return instructions(f)
}

// instructions reads the total of a cachegrind.out file.
func instructions(r io.Reader) (int64, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		switch name, rest, _ := strings.Cut(lines.Text(), ": "); {
		case name == "events" && rest != "Ir":
			return 0, fmt.Errorf("cachegrind has counted %s, not instructions alone", rest)
		case name == "summary":
			return strconv.ParseInt(rest, 10, 64)
		}
	}
	return 0, fmt.Errorf("cachegrind's output has no summary: %v", lines.Err())
}

// playOne is what runs under cachegrind.
func playOne(name string, ops int) error {
	pool, id, _ := strings.Cut(name, "/")
	for _, w := range workloads {
		if w.name == id {
			t := w.begin(open(pool), w.size)
			t(warmOps)
			t(ops)
			return nil
		}
	}
	return fmt.Errorf("there is no %s to count", name)
}
