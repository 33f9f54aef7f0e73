package percpu

import "testing"

// The class caches of all other classes lose their blocks in turn, each once, from whichever class on.
func TestEachOtherClassIsEmptiedInTurn(t *testing.T) {
	const classes = 4
	for but := range classes {
		for victim := range classes {
			s := oneCPU(t, Options{Largest: classes * 16, Bytes: 1 << 20, Depot: 1 << 20})
			for class := range classes {
				s.release(s.get(t, 16*(class+1)), 16)
			}
			p := &s.cpus[0]
			p.victim = victim
			for range classes - 1 {
				next := (p.victim + 1) % classes
				if next == but {
					next = (next + 1) % classes
				}
				m := p.shrinkOther(but)
				if m == nil || m.n != 1 || m.next != nil || int(m.class) != next {
					t.Fatalf("for class %d from %d: %+v, want the block of class %d", but, victim, m, next)
				}
				p.mustAgree()
				s.putAway(m)
			}
			if p.granted != s.BlockBytes(but) || p.shrinkOther(but) != nil {
				t.Errorf("for class %d from %d: %d bytes granted", but, victim, p.granted)
			}
		}
	}
}
