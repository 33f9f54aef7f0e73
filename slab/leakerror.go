package slab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bufslab/bufslab/slab/internal/profile"
	"github.com/bufslab/bufslab/slab/internal/watch"
)

// A Leak is a buffer that was not released, or, by samples, all such buffers of one place.
type Leak struct {
	Bytes     int
	Site      string    // file:line of the Get
	Stack     []uintptr // of the Get, from Site on, for runtime.CallersFrames
	Forgotten bool      // the collector has found it
	Sampled   int64     // the estimated number of buffers, of about Bytes together; 0 for one known buffer
}

// A LeakError says that a pool was closed while buffers were active.
type LeakError struct {
	Blocks, Bytes int64  // active, bytes as asked for
	Leaks         []Leak // as Pool.Leaks lists them
	Pool          string // its name: see Pool.Name

	forgotten             int64 // found before
	leftBlocks, leftBytes int64 // active as well, and no leaks
	keepers               int   // not closed
}

// Error adds the leaks up by site and the two calls that led to it, and lists the ten with the most bytes. It says how
// many others were found forgotten before.
func (e *LeakError) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "slab: pool %s closed with %d buffers of %d bytes%s out, not released",
		e.Pool, e.Blocks, e.Bytes, about(e.Bytes))
	sites := bySite(e.Leaks)
	for _, at := range sites[:min(len(sites), leakLines)] {
		s.WriteString(at.String())
		if at.forgotten > 0 {
			fmt.Fprintf(&s, ", %d of them found forgotten", at.forgotten)
		}
	}
	if n := len(sites) - leakLines; n > 0 {
		fmt.Fprintf(&s, "\n\tand %d more sites", n)
	}
	return s.String() + e.more()
}

// more says what else is known of the buffers that are out.
func (e *LeakError) more() (text string) {
	if e.leftBlocks > 0 {
		text += fmt.Sprintf("\n\t%d more of %d bytes are left to the collector by growpool, and are no leaks",
			e.leftBlocks, e.leftBytes)
	}
	if e.keepers > 0 {
		text += fmt.Sprintf("\n\t%d growpools, or others that keep buffers of it, are not closed and may have them",
			e.keepers)
	}
	if len(e.Leaks) > 0 {
		return text // which has those that were found
	}
	if e.forgotten > 0 {
		text += fmt.Sprintf("\n\t%d others were found forgotten before", e.forgotten)
	}
	return text + "\n\twith on_forget=report the pool knows where they were got"
}

// about is a large number of bytes in units, for the text of an error.
func about(bytes int64) string {
	if bytes < 1<<20 {
		return ""
	}
	units, n := []string{"MiB", "GiB", "TiB", "PiB", "EiB"}, float64(bytes)/(1<<20)
	for ; n >= 1024; units = units[1:] {
		n /= 1024
	}
	return fmt.Sprintf(" (%.1f %s)", n, units[0])
}

// leakLines is how many sites the text of a LeakError lists.
const leakLines = 10

// A leakSite is the sum of the leaks of one place.
type leakSite struct {
	site, about               string
	bytes, buffers, forgotten int64
}

func (at leakSite) String() string {
	return fmt.Sprintf("\n\t%s%d bytes in %d buffers got at %s", at.about, at.bytes, at.buffers, at.site)
}

// bySite adds leaks up, the most bytes first.
func bySite(leaks []Leak) []leakSite {
	type key struct {
		site  string
		stack profile.Stack
	}
	at := map[key]leakSite{}
	for _, l := range leaks {
		k := key{site: l.Site}
		copy(k.stack[:], l.Stack)
		s := at[k]
		if s.site == "" {
			s.site = cmp.Or(watch.PlaceOf(l.Stack), l.Site)
		}
		n := max(1, l.Sampled)
		s.bytes += int64(l.Bytes)
		s.buffers += n
		if l.Forgotten {
			s.forgotten += n
		}
		if l.Sampled > 0 {
			s.about = "by samples, about "
		}
		at[k] = s
	}
	var sites []leakSite
	for _, s := range at {
		sites = append(sites, s)
	}
	slices.SortFunc(sites, func(a, b leakSite) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.site, b.site))
	})
	return sites
}

// leaksOf returns a list as the program sees it. Leaks of one stack share it.
func leaksOf(list []watch.Leak) (leaks []Leak) {
	known := map[profile.Stack]Leak{}
	for _, l := range list {
		var stack profile.Stack
		copy(stack[:], l.Stack)
		k, ok := known[stack]
		if !ok {
			k = leakOf(l)
			known[stack] = k
		}
		k.Bytes, k.Forgotten, k.Sampled = l.Bytes, l.Forgotten, l.Sampled
		leaks = append(leaks, k)
	}
	return leaks
}

func leakOf(l watch.Leak) Leak {
	return Leak{Bytes: l.Bytes, Site: watch.SiteOf(l.Stack), Stack: watch.OwnStack(l.Stack), Forgotten: l.Forgotten,
		Sampled: l.Sampled}
}
