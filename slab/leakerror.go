package slab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bufslab/bufslab/slab/internal/watch"
)

// A LeakError says that a pool was closed while buffers were out.
type LeakError struct {
	Blocks, Bytes int64  // active, bytes as asked for
	Leaks         []Leak // as Pool.Leaks lists them
	Pool          string // its name: see Pool.Name
}

// A Leak is a buffer that was not released, or, by samples, all that were got at one place.
type Leak struct {
	Bytes     int
	Site      string // file:line of the Get
	Forgotten bool   // the collector has found it
	Sampled   int64  // about so many buffers, of about Bytes together; 0 for one buffer that is known
}

// Error adds the leaks up by site, and lists the ten sites with the most bytes.
func (e *LeakError) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "slab: pool %s closed with %d buffers of %d bytes out", e.Pool, e.Blocks, e.Bytes)
	sites := bySite(e.Leaks)
	for _, at := range sites[:min(len(sites), leakLines)] {
		fmt.Fprintf(&s, "\n\t%s%d bytes in %d buffers got at %s", at.about, at.bytes, at.buffers, at.site)
		if at.forgotten > 0 {
			fmt.Fprintf(&s, ", %d of them found forgotten", at.forgotten)
		}
	}
	if n := len(sites) - leakLines; n > 0 {
		fmt.Fprintf(&s, "\n\tand %d more sites", n)
	}
	return s.String()
}

// leakLines is how many sites the text of a LeakError lists.
const leakLines = 10

// A leakSite is what was got at one place.
type leakSite struct {
	site, about               string
	bytes, buffers, forgotten int64
}

// bySite adds leaks up, the most bytes first.
func bySite(leaks []Leak) []leakSite {
	at := map[string]leakSite{}
	for _, l := range leaks {
		s := at[l.Site]
		n := max(1, l.Sampled)
		s.bytes += int64(l.Bytes)
		s.buffers += n
		if l.Forgotten {
			s.forgotten += n
		}
		if l.Sampled > 0 {
			s.about = "by samples, about "
		}
		at[l.Site] = s
	}
	var sites []leakSite
	for site, s := range at {
		s.site = site
		sites = append(sites, s)
	}
	slices.SortFunc(sites, func(a, b leakSite) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.site, b.site))
	})
	return sites
}

// leaksOf returns a list as the program sees it.
func leaksOf(list []watch.Leak) (leaks []Leak) {
	for _, l := range list {
		leaks = append(leaks, Leak(l))
	}
	return leaks
}
