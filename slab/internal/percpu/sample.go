package percpu

import "github.com/bufslab/bufslab/slab/internal/profile"

// Which hits a profile samples. When the count in its state is full a class cache is due: Enter
// refuses, and Retry serves the Get, samples it, and arms the class cache again.

// mostGets is how many Gets a class cache serves before it looks whether samples may come closer again.
// It does not sample the Get at which it looks, which no estimate shows.
const mostGets = 1 << 14

// arm draws the number of Gets that a class cache of p serves until it is due. The caller is pinned.
func (p *cpu) arm(class int) {
	k := &p.caches[class]
	if !k.state.isArmed() {
		p.used[p.known.Load()] = uint16(class)
		p.known.Add(1)
	}
	bytes, scale := p.options.Pace.Draw(mostGets * p.options.blockBytes(class))
	n := bytes / p.options.blockBytes(class)
	if n >= dueGets { // too far for the counter: begin again there, without a sample
		n, scale = dueGets-1, profile.Never
	}
	begin(&p.arms)
	p.gets.Add(k.state.gets())
	k.state = k.state.armed(n, scale)
	p.arms.Add(1)
}

// rearm arms a class cache that was due and has just served a Get. It returns the number of Gets that
// this one counts for in a profile, or 0. The caller is pinned.
func (p *cpu) rearm(class int) (stands float64) {
	s := p.caches[class].state
	if s.isArmed() && s.scale() != profile.Never {
		stands = p.options.Pace.Weight(p.options.blockBytes(class), s.scale())
	} else {
		p.options.Pace.Ease()
	}
	p.arm(class)
	return stands
}
