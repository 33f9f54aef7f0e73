package trace

import (
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/bufslab/bufslab/trace/internal/alloclog"
)

// ErrLog says that a log is of no format that [Import] knows, that it is broken, or that
// it is a pickle of more than plain data.
var ErrLog = alloclog.ErrLog

// A Log is what another allocator has recorded, on its way to a trace. It is for one
// goroutine at a time.
type Log struct {
	name   string
	log    *alloclog.Log
	blocks blocks
	done   bool
}

// Import recognizes a log by its contents, which gzip may have compressed. It knows
//
//   - RMM's logging resource adaptor: a CSV file. Streams, threads and times are kept.
//   - PyTorch's memory snapshots: the pickle that torch.cuda.memory._dump_snapshot
//     writes. It is read without running anything, and refused if it wants that. Streams
//     and times are kept, a device is a pool. What was live before the first event comes
//     first, and a block is freed as soon as the program asks for it. The decoded pickle
//     may take 2 GiB, which is some 2 million events.
//   - Umpire's replays, JSON lines of either generation. Times are kept, an allocator is
//     a pool, and events of its own upstream are not in such a log. A reallocation is a grow.
//   - what CuPy's DebugPrintHook prints, JSON lines. A device is a pool.
//
// Lines of text are read one by one, and others between those of JSON are skipped. All
// pools come mixed, in the order of the log, and [Op.Key] tells them apart. A pointer
// gets a new id whenever it is allocated, and keeps it when it is reallocated. The name is for errors and warnings.
func Import(r io.Reader, name string) (*Log, error) {
	plain, err := uncompressed(r)
	if err != nil {
		return nil, &SyntaxError{File: name, Err: err}
	}
	log, err := alloclog.Open(plain)
	if err != nil {
		return nil, &SyntaxError{File: name, Err: err}
	}
	return &Log{name: name, log: log, blocks: blocks{live: make(map[address]block)}}, nil
}

// Format returns what the log was recognized as, such as "RMM log".
func (l *Log) Format() string { return l.log.Name }

// Columns returns the columns beyond id and size that the log has something to say for,
// as [NewWriter] wants them.
func (l *Log) Columns() []string {
	return slices.DeleteFunc(slices.Clone(l.log.Columns), func(name string) bool { return !slices.Contains(columns, name) })
}

// All ranges over the ops, once. They can be written by a [Writer] as they are. It
// ends after the first error, a *[SyntaxError], which comes with the zero Op.
func (l *Log) All() iter.Seq2[Op, error] {
	return func(yield func(Op, error) bool) {
		for !l.done {
			e, err := l.log.Next()
			l.done = err != nil
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(Op{}, &SyntaxError{File: l.name, Line: l.log.Line(), Err: err})
				return
			}
			for _, op := range l.blocks.ops(e) {
				l.done = l.done || !yield(op, nil)
			}
		}
	}
}

// Warnings returns what was odd about the log and is no error, each with the name. It is
// complete when All has ended.
func (l *Log) Warnings() (all []string) {
	for _, o := range l.blocks.odd() {
		if o.n > 0 {
			all = append(all, fmt.Sprintf("trace: %s: %s", l.name, o.sentence(l.log.Unit)))
		}
	}
	for _, note := range l.log.Notes {
		all = append(all, fmt.Sprintf("trace: %s: %s", l.name, note))
	}
	if l.log.Cut() {
		all = append(all, fmt.Sprintf("trace: %s:%d: the line has no newline and was dropped: the file was cut short", l.name, l.log.Line()+1))
	}
	return all
}
