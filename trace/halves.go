package trace

// Halves cuts a trace of allocations in the middle of its events, so that what was learned
// from one half can be judged on the other. The second half begins with the allocations
// that are live there, each as it was made. A keyed trace has no halves.
func (t *Trace) Halves() (first, second *Trace) {
	if t.Keyed() {
		return nil, nil
	}
	half := Trace{Name: t.Name, Promise: t.Promise, Device: t.Device, slots: t.slots}
	a, b := builder{Trace: half}, builder{Trace: half}
	live := make([]Op, t.slots)
	middle, n := t.Events()/2, 0
	for op := range t.Ops() {
		if n == middle {
			b.addLive(live)
		}
		if n++; n > middle {
			b.addOp(&op)
			continue
		}
		a.addOp(&op)
		switch op.Kind {
		case Grow: // as if it had been made so
			live[op.ID].Size = op.Size
		default:
			live[op.ID] = op
		}
	}
	return &a.Trace, &b.Trace
}

func (b *builder) addLive(live []Op) {
	for i := range live {
		if live[i].Kind == Alloc {
			b.addOp(&live[i])
		}
	}
}

// addOp adds an operation of a trace whose sizes have been added up before.
func (b *builder) addOp(op *Op) {
	n := len(b.chunks)
	if n == 0 || len(b.chunks[n-1].steps) == chunkSteps {
		b.chunks = append(b.chunks, &chunk{})
		n++
	}
	_ = b.row(b.chunks[n-1], uint32(op.ID), op)
}
