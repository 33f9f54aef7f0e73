package slabtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bufslab/bufslab/internal/inside"
	"github.com/bufslab/bufslab/slab"
)

// outOf returns the buffers that are out and their bytes: active ones, and those of plain memory that a pool made
// where it had no room, which are to be released as well.
func outOf(s slab.Stats) (buffers, bytes int64) {
	return s.ActiveBlocks + s.OverflowBlocks, s.ActiveBytes + s.OverflowBytes
}

// tellsEach reports whether list has each active buffer, as in a pool that keeps call sites.
func tellsEach(list []slab.Leak) bool {
	return len(list) > 0 && list[0].Sampled == 0
}

// A place is the sum of the leaks of one line of the program.
type place struct {
	site           string
	buffers, bytes int64
	forgotten      bool
}

// placesOf adds a list up by place, the most bytes first. Active and forgotten buffers are two lines, as
// they are two mistakes.
func placesOf(list []slab.Leak) (all []*place) {
	type key struct {
		site      string
		forgotten bool
	}
	at := map[key]*place{}
	for _, l := range list {
		k := key{inside.Place(l.Stack), l.Forgotten}
		if at[k] == nil {
			at[k] = &place{site: cmp.Or(k.site, "a place that is not known"), forgotten: l.Forgotten}
			all = append(all, at[k])
		}
		at[k].buffers += max(1, l.Sampled)
		at[k].bytes += int64(l.Bytes)
	}
	slices.SortStableFunc(all, func(a, b *place) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.site, b.site))
	})
	return all
}

// String is a line, and one more for the calls around. It begins with the place, as lines of a compiler do: editors can
// jump to it.
func (p *place) String() string {
	how := "still out"
	if p.forgotten {
		how = "forgotten: nothing reaches " + oneOrMany(p.buffers, "it", "them") + " any more"
	}
	site, around, called := strings.Cut(p.site, ", called at ")
	if called {
		around = "\n\t\tcalled at " + around
	}
	return fmt.Sprintf("%s: %s, %s%s", site, buffers(p.buffers, p.bytes), how, around)
}

// withPlaces is the message of a pool that keeps call sites. It counts a buffer once, however many of its parts
// have a place.
func withPlaces(s slab.Stats, list []slab.Leak, when, pool string) string {
	var lines strings.Builder
	n, bytes := outOf(s)
	for _, p := range placesOf(list) {
		if p.forgotten {
			n, bytes = n+p.buffers, bytes+p.bytes
		}
		fmt.Fprintf(&lines, "\t%v\n", p)
	}
	return fmt.Sprintf("%s %s not released %s (pool %s):\n%s", buffers(n, bytes), oneOrMany(n, "was", "were"), when,
		pool, &lines) +
		"Each place is that of a Get, Share, Slice or Grow. Release what it returned once, on every path.\n" +
		"A buffer is out until its last part is released."
}

// withoutPlaces is the message of a pool that keeps no call sites.
func withoutPlaces(s slab.Stats, list []slab.Leak, when, pool string) string {
	var text strings.Builder
	n, bytes := outOf(s)
	fmt.Fprintf(&text, "%s %s out %s, and %d found forgotten (pool %s).\n",
		buffers(n, bytes), oneOrMany(n, "is", "are"), when, s.Forgotten, pool)
	if len(list) > 0 {
		text.WriteString("By the samples of profile_rate, about:\n")
	}
	for _, p := range placesOf(list) {
		fmt.Fprintf(&text, "\t%v\n", p)
	}
	text.WriteString("To see each place, open the pool with on_forget=report or strict=true.")
	return text.String()
}

func buffers(n, bytes int64) string {
	return fmt.Sprintf("%d %s of %d bytes", n, oneOrMany(n, "buffer", "buffers"), bytes)
}

func oneOrMany(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
