package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// A count is what an operation does, less the harness.
type count struct {
	Instructions float64 `json:"instructions"`
	Data         float64 `json:"data"`   // references to it
	First        float64 `json:"first"`  // that missed the first-level cache
	Memory       float64 `json:"memory"` // that missed all caches
}

// per is a count of so many operations taken to one.
func (c count) per(ops int) count {
	n := float64(ops)
	return count{c.Instructions / n, c.Data / n, c.First / n, c.Memory / n}
}

// rounded has what repeats of c.
func (c count) rounded() count {
	tenth := func(v float64) float64 { return math.Round(v*10)/10 + 0 } // +0: no -0
	return count{tenth(c.Instructions), tenth(c.Data), tenth(c.First), tenth(c.Memory)}
}

func (c count) less(d count) count {
	return count{c.Instructions - d.Instructions, c.Data - d.Data, c.First - d.First, c.Memory - d.Memory}
}

// warmOps warm a pool up. Of two runs one does no more, and the other so many turns: their
// difference has no start-up in it.
const warmOps = 4 * hotOps

func (w workload) countedTurns() int {
	if w.cold {
		return 64
	}
	return 4
}

// A counter runs this program under cachegrind. It has a copy of its own, so that the
// figures do not depend on how this one was built.
type counter struct {
	dir, program string
	simulated    simulation
}

// newCounter builds the copy, static and without symbols. close deletes it.
func newCounter(s simulation) (c counter, err error) {
	c.simulated = s
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

// operation counts an operation of a pool, with the harness in it.
func (c counter) operation(j job) (count, error) {
	short, err := c.least(j, 0)
	if err != nil {
		return count{}, err
	}
	turns := j.countedTurns()
	long, err := c.least(j, turns)
	return long.less(short).per(turns * j.turnOps()), err
}

// least is the run with the fewest instructions of three. What the runtime does beside, and
// the order in which two goroutines come to run, can add to one, and takes nothing from it.
func (c counter) least(j job, turns int) (fewest count, err error) {
	for try := range 3 {
		found, err := c.run(j, turns)
		if err != nil {
			return count{}, err
		}
		if try == 0 || found.Instructions < fewest.Instructions {
			fewest = found
		}
	}
	return fewest, nil
}

// A simulation is what cachegrind is asked for, and the events that it then counts.
type simulation struct{ args, events []string }

// caches are those of a simulated processor, the same wherever this runs. The last one is
// small, so that it can be evicted quickly: the runtime's background work, which would be
// counted as the pool's, goes by the time. noCaches counts instructions only, in a third of the time.
var (
	caches = simulation{
		[]string{"--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"},
		[]string{"Ir", "Dr", "Dw", "D1mr", "D1mw", "DLmr", "DLmw"},
	}
	noCaches = simulation{[]string{"--cache-sim=no"}, []string{"Ir"}}
)

const evictCounted = 16 << 20 // bytes, twice the last cache

// run counts a whole run. Nothing in it may depend on time or on chance: one processor, no
// collector, no preemption. Valgrind 3.19 does not know RDTSCP where the processor has it.
func (c counter) run(j job, turns int) (count, error) {
	out, err := os.CreateTemp(c.dir, "cachegrind")
	if err != nil {
		return count{}, err
	}
	defer out.Close()
	args := append([]string{"--tool=cachegrind", "--cachegrind-out-file=" + out.Name()}, c.simulated.args...)
	run := exec.Command("valgrind", append(args, c.program, "-one", j.pool+"/"+j.name(), "-turns", strconv.Itoa(turns))...)
	run.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1,cpu.rdtscp=off")
	if said, err := run.CombinedOutput(); err != nil {
		return count{}, fmt.Errorf("%v: %w\n%s", run, err, said)
	}
	f, err := os.Open(out.Name()) // valgrind has made it anew
	if err != nil {
		return count{}, err
	}
	defer f.Close()
	return c.simulated.parse(f)
}

// parse reads the totals of a cachegrind.out file.
func (s simulation) parse(r io.Reader) (count, error) {
	var events []string
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		switch name, rest, _ := strings.Cut(lines.Text(), ":"); name {
		case "events":
			events = strings.Fields(rest)
		case "summary":
			return s.summary(events, strings.Fields(rest))
		}
	}
	return count{}, fmt.Errorf("cachegrind's output has no summary: %v", lines.Err())
}

func (s simulation) summary(events, totals []string) (count, error) {
	if len(events) != len(totals) {
		return count{}, fmt.Errorf("cachegrind has %d events and %d totals", len(events), len(totals))
	}
	of := map[string]float64{}
	for i, name := range events {
		n, err := strconv.ParseInt(totals[i], 10, 64)
		if err != nil {
			return count{}, fmt.Errorf("cachegrind's total of %s: %w", name, err)
		}
		of[name] = float64(n)
	}
	for _, name := range s.events {
		if _, known := of[name]; !known {
			return count{}, fmt.Errorf("cachegrind did not count %s", name)
		}
	}
	return count{of["Ir"], of["Dr"] + of["Dw"], of["D1mr"] + of["D1mw"], of["DLmr"] + of["DLmw"]}, nil
}

// playOne is what runs under cachegrind.
func playOne(name string, turns int) error {
	evicted = evictCounted
	pool, id, _ := strings.Cut(name, "/")
	for _, c := range contenders() {
		for _, w := range counted() {
			if c.name != pool || w.name() != id {
				continue
			}
			p := c.start(w)
			p.turn(warmOps)
			for range turns {
				p.turn(w.turnOps())
			}
			return nil
		}
	}
	return fmt.Errorf("there is no %s to count", name)
}
