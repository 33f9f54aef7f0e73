package pageheap

import "fmt"

// check walks all of the memory: extents tile the segments, the indexes and the
// page maps agree with them, and bytes add up.
func (m *memory) check() error {
	var ends []int32
	var committed, isolated int64
	for s := range m.segs {
		if m.segs[s].block.Region == nil {
			continue
		}
		if err := m.checkSegment(int32(s)); err != nil {
			return fmt.Errorf("segment %d: %w", s, err)
		}
		ends = append(ends, m.segs[s].end)
		committed += m.committed(int32(s))
		_, bytes := m.quarantinedIn(int32(s))
		isolated += bytes - m.segs[s].lost
	}
	if isolated != m.isolated {
		return fmt.Errorf("%d bytes in quarantine that have not gone, %d counted", isolated, m.isolated)
	}
	if committed+m.excess != m.managed {
		return fmt.Errorf("%d bytes in segments, %d beyond, %d managed", committed, m.excess, m.managed)
	}
	return m.extents.check(ends...)
}

// checkSegment verifies the fields of a segment against its extents.
func (m *memory) checkSegment(s int32) error {
	seg := &m.segs[s]
	if m.at(seg.end).seg != s {
		return fmt.Errorf("its end is of segment %d", m.at(seg.end).seg)
	}
	if id, ok := m.regions.Find(seg.block); !ok || id != s {
		return fmt.Errorf("its block is found as %d, %v", id, ok)
	}
	used, pages, err := m.checkPages(s)
	isolated, _ := m.quarantinedIn(s)
	if used += isolated; err == nil && (used != seg.used || isolated != seg.isolated) {
		err = fmt.Errorf("%d used extents, %d in quarantine, %d and %d counted", used, isolated, seg.used, seg.isolated)
	}
	if n := seg.pages.count(); err == nil && n != pages && !m.numbered {
		err = fmt.Errorf("extents begin in %d pages, the map has %d", pages, n)
	}
	return err
}

// checkPages verifies that the page map of a segment has the first used extent
// of each page. It returns the number of used extents and of their pages.
func (m *memory) checkPages(s int32) (extents, pages int, err error) {
	below := func(i int32) int32 { // the next used extent
		for i = m.at(i).prev; i != none && m.at(i).state != used; i = m.at(i).prev {
		}
		return i
	}
	for i := below(m.segs[s].end); i != none; {
		extents++
		page, next := m.at(i).off>>pageShift, below(i)
		if next == none || m.at(next).off>>pageShift != page {
			pages++
			if first := m.segs[s].pages.first(page); first != i && !m.numbered {
				return 0, 0, fmt.Errorf("page %d begins with extent %d, the map says %d", page, i, first)
			}
		}
		i = next
	}
	return extents, pages, nil
}

// quarantinedIn returns the number of extents of a segment that are in quarantine, and their bytes.
func (m *memory) quarantinedIn(s int32) (n int, bytes int64) {
	for i := m.segs[s].end; i != none; i = m.at(i).prev {
		if m.at(i).state == quarantined {
			n++
			bytes += int64(m.at(i).len)
		}
	}
	return n, bytes
}

// count returns the number of pages in which an extent begins.
func (m pageMap) count() (n int) {
	for _, l := range m {
		if l == nil {
			continue
		}
		for _, i := range l {
			if i != none {
				n++
			}
		}
	}
	return n
}

// check verifies all segments, which have the given ends: extents tile them,
// neighbours that can be merged are, and the index knows every free and every
// decommitted extent.
func (e *extents) check(ends ...int32) error {
	var seen [2]index
	records := 0
	for _, i := range ends {
		n, err := e.checkTiling(i, &seen)
		if err != nil {
			return err
		}
		records += n
	}
	if alive := e.alive(); alive != records {
		return fmt.Errorf("%d records in use, %d in segments", alive, records)
	}
	for s := range e.index {
		x := &e.index[s]
		if x.count != seen[s].count || x.bytes != seen[s].bytes {
			return fmt.Errorf("index %d: %d bytes in %d extents, but segments have %d in %d", s, x.bytes, x.count,
				seen[s].bytes, seen[s].count)
		}
		if err := e.checkIndex(state(s)); err != nil {
			return err
		}
	}
	if e.at(none).state != gone {
		return fmt.Errorf("record 0 is in state %d", e.at(none).state)
	}
	return nil
}

// alive counts the records in use.
func (e *extents) alive() int {
	n := len(e.records) - 1
	for i := e.vacant; i != none; i = e.at(i).next {
		n--
	}
	return n
}

// checkTiling walks one segment down from its end and returns its records.
func (e *extents) checkTiling(last int32, seen *[2]index) (records int, err error) {
	x := *e.at(last)
	if x.state != end || x.next != none || x.len != 0 {
		return 0, fmt.Errorf("end %d is %+v", last, x)
	}
	top, above := x.off, x
	records = 1
	for i, up := x.prev, last; i != none; i, up = e.at(i).prev, i {
		x := *e.at(i)
		if x.off+x.len != top || x.len <= 0 || x.next != up || x.seg != above.seg {
			return 0, fmt.Errorf("extent %d %+v below %+v", i, x, above)
		}
		if err := e.checkExtent(x, above); err != nil {
			return 0, fmt.Errorf("extent %d %+v below %+v: %w", i, x, above, err)
		}
		if x.state < used {
			seen[x.state].count++
			seen[x.state].bytes += int64(x.len)
		}
		top, above = x.off, x
		records++
	}
	if top != 0 {
		return 0, fmt.Errorf("nothing below %d", top)
	}
	return records, nil
}

// checkExtent verifies one extent, also against the next one.
func (e *extents) checkExtent(x, above extent) error {
	switch {
	case x.state > leaving:
		return fmt.Errorf("state %d", x.state)
	case x.off%e.align != 0, x.len%e.align != 0:
		return fmt.Errorf("not aligned to %d", e.align)
	case x.state == above.state && x.state != used:
		return fmt.Errorf("not merged")
	case x.state == decommitted && above.state == end:
		return fmt.Errorf("decommitted at the end")
	case x.state == used && int(x.excess) >= x.len:
		return fmt.Errorf("too small")
	}
	return nil
}

// checkIndex verifies that each list has the extents that belong there, and
// that the index has the right count.
func (e *extents) checkIndex(s state) error {
	x := &e.index[s]
	var count int64
	for l, head := range x.heads {
		if set := x.lists.Next(l) == l; set != (head != none) {
			return fmt.Errorf("list %d: bit %v, head %d", l, set, head)
		}
		for i, up := head, int32(none); i != none; i, up = e.at(i).down, i {
			if t := e.at(i); t.up != up || t.state != s || e.listFor(t.len) != l {
				return fmt.Errorf("extent %d %+v in list %d of state %d", i, *t, l, s)
			}
			count++
		}
	}
	if count != x.count {
		return fmt.Errorf("index %d counts %d extents, lists have %d", s, x.count, count)
	}
	return nil
}
