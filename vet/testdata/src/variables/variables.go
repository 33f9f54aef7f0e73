// Package variables uses buffers by variables that function literals write to, or whose address goes elsewhere.
package variables

import "github.com/bufslab/bufslab/slab"

type holder struct{ at *slab.PooledBuffer }

func refill(at *slab.PooledBuffer) {}

func show(b []byte) {}

// What follows is right: the variable has another buffer by then.

func addressIsStored(p *slab.Pool, h *holder) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	h.at = &b
	b.Release()
	refill(h.at)
	show(b.Bytes())
}

func addressIsPassed(p *slab.Pool) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	b.Release()
	refill(&b)
	show(b.Bytes())
}

func addressIsStoredInLiteral(p *slab.Pool, h *holder) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	func() { h.at = &b }()
	b.Release()
	refill(h.at)
	show(b.Bytes())
}

func literalFills(p *slab.Pool) {
	var b slab.PooledBuffer
	fill := func() { b, _ = p.Get(10) }
	fill()
	b.Release()
	fill()
	show(b.Bytes())
	b.Release()
}

func literalInLiteralFills(p *slab.Pool) {
	var b slab.PooledBuffer
	fill := func() {
		again := func() { b, _ = p.Get(10) }
		again()
	}
	fill()
	b.Release()
	fill()
	show(b.Bytes())
	b.Release()
}

func deferredFills(p *slab.Pool) (s []byte, err error) {
	if s, err = p.GetBytes(10); err != nil {
		return nil, err
	}
	defer func() {
		p.Put(s)
		s, _ = p.GetBytes(20)
	}()
	show(s)
	return s, nil
}

func literalInDeferredFills(p *slab.Pool) (s []byte, err error) {
	if s, err = p.GetBytes(10); err != nil {
		return nil, err
	}
	defer func() {
		defer func() { s, _ = p.GetBytes(20) }()
		p.Put(s)
	}()
	show(s)
	return s, nil
}

func literalMayFill(p *slab.Pool, other slab.PooledBuffer, yes bool) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	func() {
		if yes {
			b = other
		}
		other.Release()
		show(b.Bytes())
	}()
	b.Release()
}

func deferredAndCalledFills(p *slab.Pool, yes bool) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	fill := func() { b, _ = p.Get(20) }
	if yes {
		fill()
	}
	defer fill()
	b.Release()
	fill()
	show(b.Bytes())
	b.Release()
}

// What follows is not.

func literalReads(p *slab.Pool, yes bool) {
	got, err := p.Get(10)
	if err != nil {
		return
	}
	b := got
	read := func() { show(b.Bytes()) }
	if yes {
		read()
	}
	got.Release()
	show(b.Bytes()) // want `buffer is used after its Release on line`
}

func deferredReads(p *slab.Pool, yes bool) {
	got, err := p.Get(10)
	if err != nil {
		return
	}
	b := got
	defer func() { print(b.Len()) }()
	if yes {
		show(nil)
	}
	got.Release()
	show(b.Bytes()) // want `buffer is used after its Release on line`
}

func ofAnotherName(p *slab.Pool, s []byte) {
	whole := s
	for len(s) > 3 {
		s = s[1:]
	}
	p.Put(whole)
	s[0] = 1 // want `byte slice is used after its Put on line`
}

// A field has the same buffer as long as nothing can have changed it.

type owner struct{ b slab.PooledBuffer }

func (o *owner) inBranch(yes bool) {
	o.b.Release()
	if yes {
		show(o.b.Bytes()) // want `buffer is used after its Release on line`
	}
}

func (o *owner) behindBuiltin() {
	o.b.Release()
	print(3)
	show(o.b.Bytes()) // want `buffer is used after its Release on line`
}

func (o *owner) changedInBranch(other slab.PooledBuffer, yes bool) {
	o.b.Release()
	if yes {
		o.b = other
	}
	show(o.b.Bytes())
}

func (o *owner) changedByCall(change func()) {
	o.b.Release()
	change()
	show(o.b.Bytes())
}
