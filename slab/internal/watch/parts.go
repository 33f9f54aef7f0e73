package watch

import "github.com/bufslab/bufslab/slab/internal/handle"

// With places a Log lists the parts of a buffer after it, with the place of their Share or Slice.

// Part notes a part of n bytes of root.
func (l *Log) Part(root, part *handle.Slot, n int) {
	if l.sites == nil {
		return
	}
	at := Here()
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.sites[root.ID()]
	if s.parts == nil {
		s.parts = map[handle.ID]Leak{}
		l.sites[root.ID()] = s
	}
	s.parts[part.ID()] = Leak{Bytes: n, Stack: at}
}

// PartEnded notes that a part of root was released.
func (l *Log) PartEnded(root, part *handle.Slot) {
	if l.sites == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.sites[root.ID()].parts, part.ID())
}

// PartForgotten notes that a part of root was forgotten, while the block has other handles. Where
// part is nil Forgotten lists it.
func (l *Log) PartForgotten(root, part *handle.Slot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parts++
	if part == nil {
		return
	}
	parts := l.sites[root.ID()].parts
	l.teller.tell(Leak{Bytes: part.Asked(), Stack: parts[part.ID()].Stack, Forgotten: true})
	if site, ok := parts[part.ID()]; ok { // else root was released and got again meanwhile
		l.leakParts(map[handle.ID]Leak{part.ID(): site})
		delete(parts, part.ID())
	}
}

// leakParts lists parts as forgotten. The caller holds mu.
func (l *Log) leakParts(parts map[handle.ID]Leak) {
	for _, part := range parts {
		part.Forgotten = true
		l.leaked = append(l.leaked, part)
	}
}
