package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/schollz/progressbar/v3"

	"github.com/bufslab/bufslab/internal/wholefile"
	"github.com/bufslab/bufslab/trace"
)

const importHelp = `bufslab import [-pool NAME] FILE -o TRACE

Turns what another allocator has recorded into a trace, which is compressed if
its name ends in .gz. FILE is a log of RMM, a memory snapshot of PyTorch, a
replay of Umpire or what CuPy's DebugPrintHook prints, gzip or not; its contents
tell which. What was odd about it is told on the standard error.

	bufslab import snapshot.pickle -o run.csv.gz
	bufslab import -pool 0 snapshot.pickle -o device0.csv.gz

  -o TRACE     the file to write
  -pool NAME   keep one device or allocator; all others are mixed otherwise,
               and the column key tells them apart

It exits with 1 if TRACE cannot be written, with 2 if an option is wrong, with 3 if FILE is.
`

// importLog is the command import, which is a word of Go.
func importLog(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bufslab import", flag.ContinueOnError)
	out := flags.String("o", "", "")
	pool := flags.String("pool", "", "")
	files, code, done := parseFiles(flags, args, importHelp, stdout, stderr)
	if done {
		return code
	}
	if len(files) != 1 || *out == "" {
		fmt.Fprint(stderr, "bufslab: import wants one file and -o TRACE\n\n"+importHelp)
		return exitBad
	}
	n, err := importFile(files[0], *out, *pool, stderr)
	if err != nil {
		return fail(stderr, codeOf(err), err)
	}
	fmt.Fprintf(stdout, "%s: %s written to %s\n", n.format, n.rows(), *out)
	return exitOK
}

// imported says what a trace was made of.
type imported struct {
	format string
	count  map[trace.Kind]int
	pools  map[string]bool // that were seen
}

// rows says in words how many there are of each kind.
func (n *imported) rows() string {
	text := fmt.Sprintf("%d allocations and %d frees", n.count[trace.Alloc], n.count[trace.Free])
	if grows := n.count[trace.Grow]; grows > 0 {
		text = fmt.Sprintf("%d allocations, %d grows and %d frees", n.count[trace.Alloc], grows, n.count[trace.Free])
	}
	return text
}

// importFile writes a trace. If it fails, a file that was there is as before, also the log.
func importFile(in, out, pool string, stderr io.Writer) (n imported, err error) {
	f, err := os.Open(in)
	if err != nil {
		return n, badInput{err}
	}
	defer f.Close()
	bar := newProgress(sizeOf(f), "importing "+in, stderr, progressbar.OptionShowBytes(true), progressbar.OptionShowCount())
	defer bar.clear()
	log, err := trace.Import(&counted{from: f, bar: bar}, in)
	if err != nil {
		return n, err
	}
	n = imported{format: log.Format(), count: make(map[trace.Kind]int), pools: make(map[string]bool)}
	if err := wholefile.Replace(out, func(part string) error {
		w, err := trace.Create(part, log.Columns()...)
		if err != nil {
			return err
		}
		return errors.Join(n.copy(w, log, pool), w.Close())
	}); err != nil {
		return n, err
	}
	bar.clear()
	warn(log.Warnings(), stderr)
	if pool == "" && len(n.pools) > 1 {
		fmt.Fprintf(stderr, "bufslab: warning: %s: %d pools are mixed, -pool keeps one: %s\n", in, len(n.pools), n.names())
	}
	return n, nil
}

// copy writes the ops of one pool, or all if that is "".
func (n *imported) copy(w *trace.Writer, log *trace.Log, pool string) error {
	for op, err := range log.All() {
		if err != nil {
			return err
		}
		n.pools[op.Key] = true
		if pool != "" && op.Key != pool {
			continue
		}
		n.count[op.Kind]++
		if err := w.Write(op); err != nil {
			return err
		}
	}
	if pool != "" && !n.pools[pool] {
		return badSetup{fmt.Errorf("no pool %q, the log has: %s", pool, n.names())}
	}
	return nil
}

func (n *imported) names() string {
	return strings.Join(slices.Sorted(maps.Keys(n.pools)), ", ")
}
