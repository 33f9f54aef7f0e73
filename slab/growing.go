package slab

import (
	"fmt"
	"slices"

	"github.com/bufslab/bufslab/slab/internal/handle"
)

// How a pool off the Go heap says that buffers are lost: nobody finds a slice of GetBytes that the program forgets, nor
// a small buffer, and the only sign is a number that grows.

// growSites is how many places the warning names.
const growSites = 3

// A lostKind is a kind of buffers that nobody finds.
type lostKind struct{ name, why string }

var (
	lostSlices = lostKind{"blocks of GetBytes were not put back", "Off the Go heap a forgotten slice never comes back."}
	lostSmall  = lostKind{"blocks of at most 4 KiB were not released",
		"Off the Go heap no collection finds such a buffer where it is forgotten; with on_forget=report it does."}
)

// noticeGrowth hears of a collection. It warns, once, if the active bytes grow without end and are mostly of buffers
// that nobody finds.
func (p *pool) noticeGrowth() {
	if p.isCollected() {
		return
	}
	least, was, collections := p.grows(p.activeBytes())
	if least == 0 {
		return
	}
	n, kind := p.lost()
	if n.Bytes > least/2 && !p.warned.Swap(true) {
		p.config.log().Warn(fmt.Sprintf("slab: %d bytes%s in %d %s: the least that is active has grown from %d bytes to %d over %d collections. %s %s",
			n.Bytes, about(n.Bytes), n.Blocks, kind.name, was, least, collections, kind.why, p.growSites(p.out())))
	}
}

// lost returns the kind that has the most bytes out.
func (l *lending) lost() (handle.Tally, lostKind) {
	slices, small := l.table.Unfound()
	if small.Bytes > slices.Bytes {
		return small, lostSmall
	}
	return slices, lostSlices
}

// growSites says which places have got most of the active buffers, which are out, or how to find them.
func (l *lending) growSites(out handle.Tally) string {
	var text string
	sites := bySite(l.outLeaks(out))
	for _, at := range sites[:min(len(sites), growSites)] {
		text += at.String()
	}
	if text == "" {
		return "With profile_rate=512KiB, or on_forget=report, Pool.Leaks and Pool.WriteProfile say where they were got"
	}
	return "Most was got at" + text
}

// outLeaks lists the active buffers, as far as the pool knows them.
func (l *lending) outLeaks(out handle.Tally) []Leak {
	return slices.DeleteFunc(l.listLeaks(out), func(k Leak) bool { return k.Forgotten })
}
