package upstreamtest

import "github.com/bufslab/bufslab/device"

// Holds reports whether b lies in memory that is out.
func (p *Pages) Holds(b device.Block) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r, ok := p.ranges[b.Region]; ok {
		return b.Off >= 0 && r.in.Overlap(b.Off, b.Off+b.Len) == b.Len
	}
	l, ok := p.out[b.Region]
	return ok && b.Off >= l.given.Off && b.Off+b.Len <= l.given.Off+l.given.Len
}

// Accounts are numbers of a Pages while calls run.
type Accounts struct {
	Bytes, Peak int64 // out now, and at most at a time
	Refused     int   // calls that found no room
	Ranges      int   // that are open
}

// Accounts returns the numbers as they are.
func (p *Pages) Accounts() Accounts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Accounts{p.Bytes, p.Peak, p.Refused, p.Open}
}
