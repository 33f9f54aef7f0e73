package slab

import (
	"cmp"
	"io"
	"time"

	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/profile"
	"github.com/bufslab/bufslab/slab/internal/watch"
)

// The profile of a pool's active buffers. The caches decide which Gets are sampled, also for
// Gets that they do not serve: slab/internal/percpu, sample.go and counters.go.

// WriteProfile writes the active buffers, by the stacks of their Gets, in the format of go tool
// pprof, as inuse_space and inuse_objects. leaked_space and leaked_objects are the buffers that
// the collector has found forgotten; they are no longer in use. A part is no buffer of its own:
// a buffer is in use until its last handle is gone.
//
// The sums are those of Stats. The share of each stack is estimated from samples, one in
// Config.ProfileRate bytes of the Gets on average; docs/leaks.md says how close the estimate
// is. Without a sample of an active buffer the shares are those of earlier samples, by how long their
// buffers were active. The innermost calls, within this package and its clients, are left out. Beyond some 4,000
// stacks with buffers, the others are added up in one. Without ProfileRate the profile is empty.
// WriteProfile works while the pool is in use, and after Close. The error is that of w.
func (p *Pool) WriteProfile(w io.Writer) error {
	q := p.opened()
	f := profile.File{
		Rate: max(0, q.config.ProfileRate), Time: time.Now(), Comment: cmp.Or(q.config.given.String(), q.config.Name),
		Hidden: watch.IsHidden, Records: q.sampled(q.out()),
	}
	return f.Write(w)
}

// sampled lists the active buffers, and the buffers that were found forgotten, by stack. The sums
// are out, and the counts of what was forgotten.
func (l *lending) sampled(out handle.Tally) []profile.Record {
	forgotten, _, _ := l.leaks.Counts()
	return l.profile.Records(out, forgotten)
}
