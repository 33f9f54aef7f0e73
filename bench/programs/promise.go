package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

// A promise is what a replay says of a program and a line, and what the process had.
type promise struct {
	promised, live float64 // bytes managed at most
	footprint      float64 // of the replay
}

func (p promise) ratio() float64 { return p.live / max(p.promised, 1) }

// promises has every program record itself, on heap and mmap and each line of -conf, and replays the recording on
// the same line: -rounds times, as its goroutines have other buffers out in each. It fails where the median
// process had more than it promises.
func (o options) promises(out io.Writer) error {
	some, kinds, err := o.asked()
	if err != nil {
		return err
	}
	kinds = slices.DeleteFunc(kinds, func(k string) bool { return k == "go" || k == base })
	fmt.Fprintln(out, "| program | line | promised MiB | live MiB | live by promised |\n|---|---|--:|--:|--:|")
	var failed []error
	for _, p := range some {
		for _, k := range kinds {
			got, err := o.medianPromise(p, k)
			if err == nil && got.ratio() > o.most {
				err = fmt.Errorf("%s on %s: %.2f of what the replay of its recording promises", p.name, k, got.ratio())
			}
			failed = append(failed, err)
			fmt.Fprintf(out, "| %s | %s | %.1f | %.1f | %.2f |\n", p.name, k, got.promised/(1<<20), got.live/(1<<20), got.ratio())
		}
	}
	return errors.Join(failed...)
}

// medianPromise is the one of o.rounds whose ratio is in the middle.
func (o options) medianPromise(p program, kind string) (promise, error) {
	var all []promise
	for range o.rounds {
		got, err := o.promiseOf(p, kind)
		if err != nil {
			return got, err
		}
		all = append(all, got)
	}
	slices.SortFunc(all, func(a, b promise) int { return cmp.Compare(a.ratio(), b.ratio()) })
	return all[len(all)/2], nil
}

// promiseOf runs a program on a kind of memory with a recording, and replays that.
func (o options) promiseOf(p program, kind string) (got promise, err error) {
	line := kind
	if !strings.Contains(kind, "=") {
		line = "device=" + kind
	}
	dir, err := os.MkdirTemp("", "promise")
	if err != nil {
		return got, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, p.name+".csv.gz")
	f, err := task{p.name, line + ",record=" + path, max(p.few, p.ops/o.part), 0}.spawn()
	if err != nil {
		return got, err
	}
	return promised(path, line, f)
}

// promised replays a recording on a line. A process that had more out at a time than was recorded is promised as much
// more.
func promised(path, line string, f figures) (got promise, err error) {
	t, err := trace.Load(path)
	if err != nil {
		return got, err
	}
	pool := slab.MustOpen(line)
	r, err := trace.Replay(t, pool)
	got = promise{float64(r.PeakManagedBytes), f.Managed, r.FootprintRatio}
	if live := float64(r.PeakLiveBytes); f.Active > live {
		got.promised *= f.Active / max(live, 1)
	}
	return got, errors.Join(err, pool.Close())
}
