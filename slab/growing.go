package slab

import (
	"fmt"
	"slices"
)

// How a pool off the Go heap says that slices of GetBytes are lost: nobody finds a slice that the program forgets, and
// the only sign is a number that grows.

// growSites is how many places the warning names.
const growSites = 3

// noticeGrowth hears of a collection. It warns, once, if the active bytes grow without end and are mostly of GetBytes.
func (p *pool) noticeGrowth() {
	if p.isCollected() || p.warned.Load() {
		return
	}
	least, was, collections := p.growth.Collected(p.activeBytes())
	if least == 0 {
		return
	}
	if n := p.table.BySlice(); n.Bytes > least/2 && !p.warned.Swap(true) {
		p.config.log().Warn(fmt.Sprintf("slab: %d bytes%s in %d blocks of GetBytes were not put back: the least that is active has grown from %d bytes to %d over %d collections. "+
			"Off the Go heap a forgotten slice never comes back. %s", n.Bytes, about(n.Bytes), n.Blocks, was, least, collections, p.growSites()))
	}
}

// growSites says which places have got most of the active bytes, or how to find them.
func (p *pool) growSites() string {
	var text string
	sites := bySite(p.outLeaks())
	for _, at := range sites[:min(len(sites), growSites)] {
		text += at.String()
	}
	if text == "" {
		return "With profile_rate=512KiB, or on_forget=report, Pool.Leaks and Pool.WriteProfile say where they were got"
	}
	return "Most was got at" + text
}

// outLeaks lists the active buffers, as far as the pool knows them.
func (p *pool) outLeaks() []Leak {
	return slices.DeleteFunc(p.listLeaks(), func(l Leak) bool { return l.Forgotten })
}
