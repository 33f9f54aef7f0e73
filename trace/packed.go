package trace

import "encoding/binary"

// A packed column has a number of each row: its distance from the first one's, in as few bytes
// as the largest needs.
type packed struct {
	first int64
	rows  int
	width int    // bytes of a distance and its sign: 0, 1, 2, 4 or 8
	bytes []byte // the lowest of a distance first
}

// add adds the number of the next row. There may be room rows before its bytes move.
func (p *packed) add(number int64, room int) {
	if p.rows == 0 {
		p.first = number
	}
	d := number - p.first
	zigzag := uint64(d<<1) ^ uint64(d>>63) // the sign is the lowest bit: a small distance back is small, too
	if w := widthOf(zigzag); w > p.width {
		p.widen(w, room)
	}
	p.put(zigzag)
	p.rows++
}

func (p *packed) put(distance uint64) {
	p.bytes = binary.LittleEndian.AppendUint64(p.bytes, distance)[:len(p.bytes)+p.width]
}

func widthOf(distance uint64) int {
	switch {
	case distance == 0:
		return 0
	case distance < 1<<8:
		return 1
	case distance < 1<<16:
		return 2
	case distance < 1<<32:
		return 4
	}
	return 8
}

func (p *packed) widen(width, room int) {
	old := *p
	p.width, p.bytes = width, make([]byte, 0, width*max(room, old.rows+1)+8) // put writes eight at a time
	for i := range old.rows {
		p.put(old.distance(i))
	}
}

func (p *packed) distance(i int) uint64 {
	switch p.width {
	case 0:
		return 0
	case 1:
		return uint64(p.bytes[i])
	case 2:
		return uint64(binary.LittleEndian.Uint16(p.bytes[2*i:]))
	case 4:
		return uint64(binary.LittleEndian.Uint32(p.bytes[4*i:]))
	}
	return binary.LittleEndian.Uint64(p.bytes[8*i:])
}

// at returns the number of row i.
func (p *packed) at(i int) int64 {
	d := p.distance(i)
	return p.first + (int64(d>>1) ^ -int64(d&1))
}

// isZero reports whether all numbers are 0.
func (p *packed) isZero() bool { return p.first == 0 && p.width == 0 }

// cut returns the first n rows and the others. It copies nothing.
func (p packed) cut(n int) (head, tail packed) {
	head, tail = p, p
	head.rows, tail.rows = n, p.rows-n
	head.bytes, tail.bytes = p.bytes[:n*p.width], p.bytes[n*p.width:]
	return head, tail
}
