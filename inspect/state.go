package inspect

import (
	"cmp"
	"maps"
	"slices"

	"github.com/bufslab/bufslab/slab"
)

// A State is what a pool is like at a moment. JSON is an array of them. docs/observing.md says
// what the numbers mean.
type State struct {
	Name          string             `json:"name"` // no other pool of the handler has it
	Closed        bool               `json:"closed"`
	Stats         slab.Stats         `json:"stats"`
	Fragmentation slab.Fragmentation `json:"fragmentation"`
	Sites         []Site             `json:"sites"` // what is out, the most bytes first, and then what was forgotten
}

// A Site is a place in the program, and what was got there: [slab.Pool.Leaks], added up. So it is
// exact where the pool keeps call sites, and else an estimate by the samples of its profile, which
// may miss what is small beside Config.ProfileRate.
type Site struct {
	Place     string `json:"place"`     // file:line of the Get
	Forgotten bool   `json:"forgotten"` // the collector has found it; else it is out
	Estimated bool   `json:"estimated"`
	Buffers   int64  `json:"buffers"`
	Bytes     int64  `json:"bytes"`
}

func stateOf(name string, p *slab.Pool) State {
	return State{name, p.Closed(), p.Stats(), p.Fragmentation(), sitesOf(p.Leaks())}
}

// sitesOf adds leaks up.
func sitesOf(leaks []slab.Leak) []Site {
	type key struct {
		place     string
		forgotten bool
	}
	sums := map[key]Site{}
	for _, l := range leaks {
		k := key{l.Site, l.Forgotten}
		s := sums[k]
		sums[k] = Site{l.Site, l.Forgotten, l.Sampled > 0, s.Buffers + max(1, l.Sampled), s.Bytes + int64(l.Bytes)}
	}
	list := slices.AppendSeq([]Site{}, maps.Values(sums)) // none is [] in JSON, not null
	slices.SortFunc(list, func(a, b Site) int {
		if a.Forgotten != b.Forgotten {
			return map[bool]int{false: -1, true: 1}[a.Forgotten]
		}
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Place, b.Place))
	})
	return list
}
