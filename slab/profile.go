package slab

import (
	"cmp"
	"io"
	"time"

	"github.com/bufslab/bufslab/slab/internal/profile"
	"github.com/bufslab/bufslab/slab/internal/watch"
)

// The profile of what a pool has out. The caches decide which Gets are sampled, those
// that they do not serve among them: slab/internal/percpu, sample.go and counters.go.

// WriteProfile writes what the pool has out, by the stacks of the Gets, in the format of
// go tool pprof: inuse_space and inuse_objects, and as leaked_space and leaked_objects the
// buffers that the collector has found forgotten, which are in use no more. A part is no
// buffer of its own; a buffer is in use until its last handle is gone.
//
// Who has how much is estimated from samples, one in Config.ProfileRate bytes of the Gets on
// average; docs/leaks.md says how close that is. Where no sample is of what is out, the shares are
// those of earlier ones, by how long their buffers were out. The sums are those of Stats. The innermost calls, within this package and
// its clients, are left out. Stacks beyond some 4,000 that have something are added up in one.
// Where ProfileRate is off the profile is empty. It works while the pool is in use, and after
// Close. The error is that of w.
func (p *Pool) WriteProfile(w io.Writer) error {
	q := p.opened()
	f := profile.File{
		Rate: max(0, q.config.ProfileRate), Time: time.Now(), Comment: cmp.Or(q.config.given.String(), q.config.Name),
		Hidden: watch.IsHidden, Records: q.sampled(),
	}
	return f.Write(w)
}

// sampled lists what the pool has out, and what was found forgotten, by stack. The sums are
// those that it has counted.
func (p *pool) sampled() []profile.Record {
	forgotten, _, _ := p.leaks.Counts()
	return p.profile.Records(active(p.cache.Usage(), forgotten), forgotten)
}
