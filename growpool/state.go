package growpool

import "fmt"

// A state says who owns a buffer, and whether Get has shown it.
type state uint8

const (
	made         state = iota + 1 // being made; only its maker has it
	unwanted                      // being made, but the cache has let go of it already
	kept                          // its key's; only leases have seen it
	shown                         // its key's; Get has shown it
	aside                         // shown, and taken from its key while a larger one is made
	replaced                      // shown; a larger one took its place
	dropped                       // its key lost it; only leases have seen it
	droppedShown                  // its key lost it; Get has shown it
	leaseOnly                     // never its key's: one lease has it
	viewOnly                      // never its key's: Get has shown it
	gone                          // no reference is left
	states       = iota + 1
)

// stateNames are for what panics and tests print.
var stateNames = [states]string{made: "made", unwanted: "unwanted", kept: "kept", shown: "shown", aside: "aside",
	replaced: "replaced", dropped: "dropped", droppedShown: "dropped, shown", leaseOnly: "lease only", viewOnly: "view only", gone: "gone"}

func (s state) String() string { return stateNames[s] }

// An event is what happens to a buffer.
type event uint8

const (
	keep    event = iota // its key gets it
	lend                 // a lease gets it; its key may not keep it
	show                 // Get shows it
	detach               // its key gives it up for a larger one
	replace              // the larger one is there
	evict                // the cache, Clear or time takes it from its key
	drop                 // a reference ends; the table says what follows if it is the last
	events  = iota
)

func (ev event) String() string {
	return [events]string{"keep", "lend", "show", "detach", "replace", "evict", "drop"}[ev]
}

// An action is a set of the steps that have to follow an event.
type action uint8

const (
	unlink   action = 1 << iota // by the caller: clear entry.cur
	giveBack                    // the memory goes back to the slab.Pool
	leave                       // the memory is left to the collector
	refund                      // the budget gets the bytes back
)

// A cell is the state after an event, and the action.
type cell struct {
	next state
	do   action
}

// Short, so that the table can be seen at a glance. xx cannot happen.
const (
	xx                         = 0
	ma, un, ke, sh, as, re     = made, unwanted, kept, shown, aside, replaced
	dr, ds, lo, vo, gn         = dropped, droppedShown, leaseOnly, viewOnly, gone
	no, ul, gb, lv, ur, gr, lr = action(0), unlink, giveBack, leave, unlink | refund, giveBack | refund, leave | refund
)

// The whole life of a buffer. These races end well because of it:
//
//   - The cache may let go of a buffer before its key has it (made, unwanted).
//     The key then never keeps it: it is dropped as soon as it is published.
//   - An eviction may come late, or twice, or while a lease has the buffer. It
//     ends the key's reference only where the key has one (kept, shown).
//   - A buffer that Get has shown (shown, aside, replaced, droppedShown, viewOnly) is
//     never released, as a slice of it may exist for ever. It is left to the collector.
//   - The budget counts kept, shown, dropped, droppedShown and leaseOnly, and
//     gets its bytes back once: when the buffer stops being one of these.
//   - A buffer set aside is not counted, so that old and new never count
//     together. Keeping it again needs its bytes reserved again.
//   - replaced and viewOnly outlast the last reference: a View of a replaced buffer
//     panics in check builds, and a View of a viewOnly buffer stays valid.
var transitions = [states][events]cell{
	//   keep      lend      show      detach    replace   evict     drop
	ma: {{ke, no}, {lo, no}, {vo, no}, {xx, xx}, {xx, xx}, {un, no}, {gn, gb}},
	un: {{dr, ul}, {lo, no}, {vo, no}, {xx, xx}, {xx, xx}, {un, no}, {gn, gb}},
	ke: {{xx, xx}, {xx, xx}, {sh, no}, {dr, ul}, {xx, xx}, {dr, ul}, {xx, xx}},
	sh: {{xx, xx}, {xx, xx}, {sh, no}, {as, ur}, {xx, xx}, {ds, ul}, {xx, xx}},
	as: {{sh, no}, {xx, xx}, {xx, xx}, {xx, xx}, {re, no}, {as, no}, {gn, lv}},
	re: {{xx, xx}, {xx, xx}, {xx, xx}, {xx, xx}, {xx, xx}, {re, no}, {re, lv}},
	dr: {{xx, xx}, {xx, xx}, {ds, no}, {dr, no}, {xx, xx}, {dr, no}, {gn, gr}},
	ds: {{xx, xx}, {xx, xx}, {ds, no}, {ds, no}, {xx, xx}, {ds, no}, {gn, lr}},
	lo: {{xx, xx}, {xx, xx}, {xx, xx}, {xx, xx}, {xx, xx}, {lo, no}, {gn, gr}},
	vo: {{xx, xx}, {xx, xx}, {xx, xx}, {xx, xx}, {xx, xx}, {vo, no}, {vo, lv}},
	gn: {{xx, xx}, {xx, xx}, {xx, xx}, {gn, no}, {xx, xx}, {gn, no}, {xx, xx}},
}

// keyRefs is how many references the key has to a buffer in a state.
var keyRefs = [states]int{kept: 1, shown: 1, aside: 1}

// stale is whether a View of a buffer in a state is no longer valid.
var stale = [states]bool{replaced: true, dropped: true, droppedShown: true, gone: true}

// A life is a buffer's state and the number of its references, in one word.
type life uint32

func lifeOf(s state, refs int) life { return life(refs)<<8 | life(s) }

func (l life) state() state { return state(l & 0xff) }
func (l life) refs() int    { return int(l >> 8) }

// on returns the life after an event, and the action.
func (l life) on(ev event) (life, action) {
	from, refs := l.state(), l.refs()
	if ev == drop && refs > 1 {
		return lifeOf(from, refs-1), 0
	}
	c := transitions[from][ev]
	if c.next == 0 {
		panic(fmt.Sprintf("growpool: %v of a buffer that is %v", ev, from))
	}
	if ev == drop {
		return lifeOf(c.next, 0), c.do
	}
	next := lifeOf(c.next, refs+keyRefs[c.next]-keyRefs[from])
	if refs == 0 || next.refs() > 0 {
		return next, c.do
	}
	next, do := lifeOf(c.next, 1).on(drop) // the key's reference was the last
	return next, c.do | do
}
