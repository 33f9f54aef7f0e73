package percpu

import (
	"embed"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What the pinned goroutine and the one that reclaims do to a class cache, explored in
// every order in which two processors may do it. The steps are read from the source, in
// its order, so that the code cannot lose one and the model keep it. A processor's stores
// wait in a buffer, where it alone sees them; they leave it in order, or in any order
// where storesInOrder is false. Loads are not reordered: the load of limit is atomic.

// sources are those that were built, also where the go command was told of others by -overlay.
//
//go:embed classcache.go reclaim.go pin.go cpu.go
var sources embed.FS

// steps returns the names of the patterns, name=pattern, in the order in which a function
// of a file has them.
func steps(t *testing.T, file, function string, patterns ...string) (list []string) {
	t.Helper()
	source, err := sources.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(source), "\nfunc (c *"+function+"(")
	body, _, found := strings.Cut(body, "\n}\n")
	if !found {
		t.Fatalf("%s has no %s", file, function)
	}
	names, any := []string{}, []string{}
	for _, p := range patterns {
		name, pattern, _ := strings.Cut(p, "=")
		names, any = append(names, name), append(any, "("+pattern+")")
	}
	for _, at := range regexp.MustCompile(strings.Join(any, "|")).FindAllStringSubmatchIndex(body, -1) {
		for i, name := range names {
			if at[2*i+2] >= 0 {
				list = append(list, name)
			}
		}
	}
	return list
}

// A protocol is what both do: the pinned goroutine a Push, then a Get.
type protocol struct{ push, pop, reclaim []string }

// protocolOf reads the protocol. marks says which are waited for: those of the class caches,
// or those of the cpus, which slow paths set as hits set theirs.
func protocolOf(t *testing.T, marks string) (p protocol) {
	hit := []string{"mark=c.busy = 1", "limit=c.limit.Load", "blocks=c.state\\)? ?& ?.*loadedMask", "change=c.state(?: \\+=|\\+\\+)", "unmark=c.busy = 0"}
	p.push = steps(t, "classcache.go", "ClassCache) Push", hit...)
	if last := len(p.push) - 1; slices.Equal(p.push[last-1:], []string{"unmark", "unmark"}) { // it returns from two places
		p.push = p.push[:last]
	} else {
		t.Errorf("not every way out of Push unmarks: %v", p.push)
	}
	for _, f := range []string{"Enter", "Top", "Take", "Leave"} { // as Pool.Get calls them
		p.pop = append(p.pop, steps(t, "classcache.go", "ClassCache) "+f, hit...)...)
	}
	for _, s := range steps(t, "reclaim.go", "Cache) close", "close=limit >= 0", "quiesce=c.quiesce") {
		if s != "quiesce" {
			p.reclaim = append(p.reclaim, s)
			continue
		}
		p.reclaim = append(p.reclaim, steps(t, "pin.go", "Cache) quiesce", "barrier=\tbarrier\\(\\)", "wait=untilIdle.&c."+marks, "late barrier=if .storesInOrder .\\s*barrier")...)
	}
	p.reclaim = append(p.reclaim, "take", "open")
	return p
}

// cells of memory, and the blocks that the entries of the loaded magazine may have.
const (
	busy = iota
	limit
	word
	entry0
	entry1
	cells
)

// A world is one moment of the two. The pinned goroutine comes with block 2, and the class
// cache has block 1.
type world struct {
	memory   [cells]int8
	buffer   [8]struct{ cell, value int8 } // stores of the pinned goroutine, its oldest first
	buffered int
	at, by   int     // steps done by the pinned goroutine, and by the other
	l, n     int8    // what the pinned goroutine has loaded
	found    [3]int8 // how often each block came out; block 0 is none
}

func (w *world) load(cell int8) int8 {
	for i := w.buffered - 1; i >= 0; i-- {
		if w.buffer[i].cell == cell {
			return w.buffer[i].value
		}
	}
	return w.memory[cell]
}

func (w *world) store(cell, value int8) {
	w.buffer[w.buffered].cell, w.buffer[w.buffered].value = cell, value
	w.buffered++
}

// drain lets the i-th store leave the buffer.
func (w *world) drain(i int) {
	w.memory[w.buffer[i].cell] = w.buffer[i].value
	copy(w.buffer[i:], w.buffer[i+1:])
	w.buffered--
	w.buffer[w.buffered].cell, w.buffer[w.buffered].value = 0, 0
}

// hit takes a step of the pinned goroutine.
func (w *world) hit(step string, push bool) {
	switch step {
	case "mark":
		w.store(busy, 1)
	case "unmark":
		w.store(busy, 0)
	case "limit":
		w.l = w.load(limit)
	case "blocks":
		w.n = w.load(word)
	case "change":
		switch {
		case push && w.n < w.l:
			w.store(entry0+w.n, 2)
			w.store(word, w.n+1)
		case push:
			w.found[2]++ // it has no room: the pinned goroutine keeps it
		case w.l >= 0 && w.n > 0:
			w.found[w.load(entry0+w.n-1)]++
			w.store(entry0+w.n-1, 0)
			w.store(word, w.n-1)
		}
	}
	w.at++
}

// reclaim takes a step of the other goroutine, and reports false if it has to wait.
func (w *world) reclaim(step string, inOrder bool) bool {
	switch step {
	case "close", "open":
		w.memory[limit] = ^w.memory[limit]
	case "barrier", "late barrier":
		for w.buffered > 0 && (step == "barrier" || !inOrder) {
			w.drain(0)
		}
	case "wait":
		if w.memory[busy] != 0 {
			return false
		}
	case "take":
		w.empty()
		w.memory[limit] = ^0
	}
	w.by++
	return true
}

// empty takes what is in the class cache.
func (w *world) empty() {
	for i := range w.memory[word] {
		w.found[w.memory[entry0+i]]++
		w.memory[entry0+i] = 0
	}
	w.memory[word] = 0
}

// after returns the worlds that may follow w.
func (p protocol) after(w world, inOrder bool) (list []world) {
	if next := w; w.at < len(p.push)+len(p.pop) {
		next.hit(slices.Concat(p.push, p.pop)[w.at], w.at < len(p.push))
		list = append(list, next)
	}
	if next := w; w.by < len(p.reclaim) && next.reclaim(p.reclaim[w.by], inOrder) {
		list = append(list, next)
	}
	for i := range w.buffered {
		if next := w; i == 0 || !inOrder && !w.waits(i) {
			next.drain(i)
			list = append(list, next)
		}
	}
	return list
}

// waits reports whether an older store than the i-th is to the same cell.
func (w *world) waits(i int) bool {
	for _, s := range w.buffer[:i] {
		if s.cell == w.buffer[i].cell {
			return true
		}
	}
	return false
}

// orders returns in how many orders the steps after w may be taken, or -1 if in one of them
// a goroutine waits for ever, or a block does not come out once. seen has what it has returned.
func (p protocol) orders(w world, inOrder bool, seen map[world]int64) (n int64) {
	if n, ok := seen[w]; ok {
		return n
	}
	defer func(w world) { seen[w] = n }(w)
	next := p.after(w, inOrder)
	if len(next) == 0 {
		if w.empty(); w.by < len(p.reclaim) || w.found != [3]int8{1: 1, 2: 1} {
			return -1
		}
		return 1
	}
	for _, x := range next {
		k := p.orders(x, inOrder, seen)
		if k < 0 {
			return -1
		}
		n += k
	}
	return n
}

// explore returns how many orders there are, -1 if one does not hold, and how many worlds.
func (p protocol) explore(inOrder bool) (orders int64, worlds int) {
	seen := map[world]int64{}
	orders = p.orders(world{memory: [cells]int8{limit: 2, word: 1, entry0: 1}}, inOrder, seen)
	return orders, len(seen)
}

// holds reports whether both goroutines come to an end, and each block comes out once,
// whatever the order of the steps is.
func (p protocol) holds(inOrder bool) bool {
	orders, _ := p.explore(inOrder)
	return orders > 0
}

func TestProtocolOfReclaim(t *testing.T) {
	for _, marks := range []string{"caches", "cpus"} {
		for _, inOrder := range []bool{true, false} {
			p := protocolOf(t, marks)
			orders, worlds := p.explore(inOrder)
			if orders <= 0 {
				t.Errorf("marks of %s: a block is lost or has two owners\n%v\n%v\n%v", marks, p.push, p.pop, p.reclaim)
			}
			t.Logf("marks of %s, stores in order %v: %d orders of the steps, %d worlds", marks, inOrder, orders, worlds)
		}
	}
}

// The control: each step counts, and so does the order.
func TestProtocolNeedsEachStep(t *testing.T) {
	p := protocolOf(t, "caches")
	without := func(list []string, step string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == step })
	}
	marks := func(list []string) []string { return append(without(list, "mark"), "mark") }
	for name, q := range map[string]protocol{
		"no close":       {p.push, p.pop, without(p.reclaim, "close")},
		"no barrier":     {p.push, p.pop, without(p.reclaim, "barrier")},
		"no wait":        {p.push, p.pop, without(p.reclaim, "wait")},
		"wait first":     {p.push, p.pop, append([]string{"close", "wait"}, without(without(p.reclaim, "wait"), "close")...)},
		"no unmark":      {without(p.push, "unmark"), without(p.pop, "unmark"), p.reclaim},
		"no mark":        {without(p.push, "mark"), without(p.pop, "mark"), p.reclaim},
		"late mark":      {marks(p.push), marks(p.pop), p.reclaim},
		"blocks first":   {p.push, append([]string{"mark", "blocks"}, without(without(p.pop, "mark"), "blocks")...), p.reclaim},
		"barrier before": {p.push, p.pop, append([]string{"barrier"}, without(p.reclaim, "barrier")...)},
	} {
		if q.holds(true) {
			t.Errorf("%s is not noticed", name)
		}
	}
	if (protocol{p.push, p.pop, without(p.reclaim, "late barrier")}).holds(false) {
		t.Error("stores out of order without a second barrier are not noticed")
	}
}
