package pageheap

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/invariants"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// sound returns a memory that has extents in every state in one segment, a page each, but for two in the first page;
// and those that begin the pages.
func sound(t *testing.T) (m memory, first []int32) {
	t.Helper()
	m = newMemory(16, false, true)
	s := m.addSegment(segment{block: device.Block{Region: upstreamtest.NewRegion(16 * page), Len: 16 * page}})
	m.appendTop(m.segs[s].end, 5*page, free)
	m.appendTop(m.segs[s].end, 4*page, free)
	m.managed = 7 * page
	m.segs = append(m.segs, segment{}) // is not in use
	first = append(first, m.AllocFree(page/2))
	m.AllocFree(page / 2)
	for range 8 {
		first = append(first, m.AllocFree(page))
	}
	m.isolateUsed(first[5])
	for k, s := range map[int]state{1: free, 3: decommitted, 7: leaving} {
		if m.unuse(first[k], s); s != leaving {
			m.list(first[k], s)
		}
	}
	m.forget(m.record(0, 0, 0)) // one is vacant
	if err := m.check(); err != nil {
		t.Fatal(err)
	}
	return m, first
}

// unuse makes the used extent i one of a state that does not count as used.
func (m *memory) unuse(i int32, s state) {
	m.unmapUsed(i)
	m.segs[0].used--
	m.at(i).state = s
}

// Each fault alone is found. Pages: 0 used, 1 free, 2 used, 3 decommitted, 4 used, 5 quarantined, 6 used, 7 leaving,
// 8 used.
func TestCheckFindsFaults(t *testing.T) {
	one := listOf(page / 16) // the list of an extent of a page
	for name, fault := range map[string]func(m *memory, first []int32){
		"bytes in quarantine": func(m *memory, _ []int32) { m.isolated += 16 },
		"managed bytes":       func(m *memory, _ []int32) { m.managed += 16 },
		"excess bytes":        func(m *memory, _ []int32) { m.excess += 16 },

		"an end of another segment": func(m *memory, _ []int32) { m.at(m.segs[0].end).seg = 1 },
		"a block that is not found": func(m *memory, _ []int32) { m.regions.Remove(m.segs[0].block) },
		"a block of another segment": func(m *memory, _ []int32) {
			m.regions.Remove(m.segs[0].block)
			m.regions.Add(m.segs[0].block, 1)
		},
		"used extents":          func(m *memory, _ []int32) { m.segs[0].used++ },
		"extents in quarantine": func(m *memory, _ []int32) { m.segs[0].isolated++ },
		"a page that is not mapped": func(m *memory, _ []int32) {
			*m.segs[0].pages.entry(2 * page) = none
		},
		"a page that has no extent": func(m *memory, first []int32) {
			*m.segs[0].pages.entry(page) = first[1]
		},
		"an extent that is not the first of a page": func(m *memory, first []int32) {
			*m.segs[0].pages.entry(0) = m.at(first[0]).next
		},

		"a record that is lost": func(m *memory, _ []int32) { m.vacant = none },
		"free extents":          func(m *memory, _ []int32) { m.index[free].count++ },
		"decommitted extents":   func(m *memory, _ []int32) { m.index[decommitted].count++ },
		"free bytes":            func(m *memory, _ []int32) { m.index[free].bytes += 16 },
		"decommitted bytes":     func(m *memory, _ []int32) { m.index[decommitted].bytes += 16 },
		"record 0 in use":       func(m *memory, _ []int32) { m.at(none).state = used },

		"an end that is none": func(m *memory, _ []int32) { m.at(m.segs[0].end).state = gone },
		"an extent above the end": func(m *memory, first []int32) {
			m.at(m.segs[0].end).next = first[0]
		},
		"an end with bytes": func(m *memory, _ []int32) { m.at(m.segs[0].end).len = 16 },
		"a gap": func(m *memory, first []int32) {
			m.at(first[2]).off += 16
			m.at(first[2]).len -= 16
		},
		"a wrong extent above":         func(m *memory, first []int32) { m.at(first[2]).next = first[4] },
		"an extent of another segment": func(m *memory, first []int32) { m.at(first[5]).seg = 1 },
		"no extent at the beginning": func(m *memory, first []int32) {
			m.unuse(m.at(first[0]).next, free)
			m.unuse(first[0], free)
			m.forget(m.at(first[0]).next)
			m.forget(first[0])
		},
		"an extent without bytes": func(m *memory, first []int32) {
			m.at(m.split(first[2], page)).state = quarantined
			m.segs[0].used++
			m.segs[0].isolated++
		},
		"an extent in no state": func(m *memory, first []int32) { m.unuse(first[4], gone) },
		"a length that is not aligned": func(m *memory, first []int32) {
			m.at(first[0]).len += 8
			m.at(m.at(first[0]).next).off += 8
			m.at(m.at(first[0]).next).len -= 8
		},
		"free extents side by side": func(m *memory, first []int32) { m.cut(first[1], 16) },
		"decommitted ones at the end": func(m *memory, first []int32) {
			m.unuse(first[8], free)
			m.list(first[8], decommitted)
			m.managed -= page
		},
		"less than was asked for": func(m *memory, first []int32) { m.at(first[2]).excess = page },

		"a list without a bit":    func(m *memory, _ []int32) { m.index[free].lists.Clear(one) },
		"a bit without a list":    func(m *memory, _ []int32) { m.index[free].lists.Set(one + 1) },
		"an extent before a head": func(m *memory, first []int32) { m.at(first[1]).up = first[2] },
		"an extent in the list of another state": func(m *memory, _ []int32) {
			a, b := m.index[free].heads, m.index[decommitted].heads
			a[one], b[one] = b[one], a[one]
		},
		"an extent in the list of another length": func(m *memory, first []int32) {
			m.index[free].heads[one], m.index[free].heads[one+1] = none, first[1]
			m.index[free].lists.Clear(one)
			m.index[free].lists.Set(one + 1)
		},
		"an extent that is in no list": func(m *memory, _ []int32) {
			m.index[free].heads[one] = none
			m.index[free].lists.Clear(one)
		},
	} {
		m, first := sound(t)
		if fault(&m, first); m.check() == nil {
			t.Errorf("check does not find %s", name)
		}
	}
}

// Without a page map there is none to check.
func TestCheckOfANumberedMemory(t *testing.T) {
	m, _ := sound(t)
	m.numbered, m.segs[0].pages = true, nil
	if err := m.check(); err != nil {
		t.Error(err)
	}
}

// Verify panics for a fault in check builds, and in no others: at once in a small heap, and in a large one after as many
// steps as there are extents.
func TestVerifyPanicsInCheckBuilds(t *testing.T) {
	for _, blocks := range []int{1, 300} {
		for _, fault := range []func(p *program){
			func(p *program) { p.excess += 16 },
			func(p *program) { p.policy.high = p.managed - 1 },
		} {
			p := start(&pages{}, Options{})
			fill(t, p, blocks)
			p.Verify() // without a fault
			steps := 1
			if blocks > 200 {
				steps = len(p.records)
			}
			fault(p)
			panicked := func() (panicked bool) {
				defer func() { panicked = recover() != nil }()
				for range steps {
					p.Verify()
				}
				return false
			}()
			if panicked != invariants.Enabled {
				t.Errorf("a fault in a heap of %d blocks: it panics is %t", blocks, panicked)
			}
		}
	}
}
