package upstream

import "github.com/bufslab/bufslab/device"

// Regions finds the block of the upstream that a smaller block was cut from. As
// a rule each has a region of its own; over an upstream that cuts regions
// itself several share one. It takes no lock.
type Regions struct {
	by   map[device.Region]parts
	last part // found last
}

// A part is a block of the upstream and its owner's number for it.
type part struct {
	block device.Block
	id    int32
}

// parts are those of one region: the others are unsorted, rare and few.
type parts struct {
	first  part
	others []part
}

// NewRegions returns a Regions without blocks.
func NewRegions() Regions { return Regions{by: map[device.Region]parts{}} }

func (p part) holds(b device.Block) bool {
	return p.block.Region == b.Region && b.Off >= p.block.Off && b.Len <= p.block.Len &&
		b.Off-p.block.Off <= p.block.Len-b.Len
}

// Add enters a block of the upstream, with the number that Find is to return.
func (r *Regions) Add(b device.Block, id int32) {
	p, ok := r.by[b.Region]
	if !ok {
		p.first = part{b, id}
	} else {
		p.others = append(p.others, part{b, id})
	}
	r.by[b.Region] = p
}

// Remove undoes Add.
func (r *Regions) Remove(b device.Block) {
	r.last = part{}
	p := r.by[b.Region]
	k := len(p.others)
	if k == 0 {
		delete(r.by, b.Region)
		return
	}
	at := &p.first
	for i := range p.others {
		if p.others[i].block == b {
			at = &p.others[i]
		}
	}
	*at = p.others[k-1]
	p.others = p.others[:k-1]
	r.by[b.Region] = p
}

// Find returns the number of the block that b lies in.
func (r *Regions) Find(b device.Block) (id int32, ok bool) {
	if b.Region == nil {
		return 0, false
	}
	if r.last.holds(b) {
		return r.last.id, true
	}
	p := r.by[b.Region]
	if p.first.holds(b) {
		r.last = p.first
		return p.first.id, true
	}
	for _, o := range p.others {
		if o.holds(b) {
			r.last = o
			return o.id, true
		}
	}
	return 0, false
}
