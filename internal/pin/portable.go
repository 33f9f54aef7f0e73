//go:build bufslab_portable && !race

package pin

import (
	"sync"
	"weak"
)

// Exclusive says that no two pinned goroutines have one number below Numbers.
const Exclusive = true

// ByRuntime says that the runtime does the pinning: it cannot stop a pinned goroutine, and
// so no collection ends while one is pinned.
const ByRuntime = false

// A Processor is what a pinned goroutine owns: a number that tends to stay with a
// processor. It is either in free, or pinned, or lost: the collector empties a
// sync.Pool that is not used, and GOMAXPROCS does when it is changed.
type Processor struct{ *number }

type number struct {
	id int
	_  [56]byte // a weak pointer to less may live as long as its neighbours
}

// ID returns the number.
func (p Processor) ID() int { return p.id }

// Numbers returns below what numbers are exclusive, until GOMAXPROCS is raised. There
// are some to spare, for the time from when numbers are lost until the collector has
// noticed.
func Numbers() int { return 2 * processors() }

// unnumbered is for callers that find all numbers pinned or lost. It is never in free.
var unnumbered = &number{id: 1 << 16}

var (
	free   = sync.Pool{New: find}
	mu     sync.Mutex             // leaf
	owners []weak.Pointer[number] // by number, those that are not known to be lost; guarded by mu
)

// find returns the first number that is not taken.
func find() any {
	mu.Lock()
	defer mu.Unlock()
	for id := range Numbers() {
		if id == len(owners) {
			owners = append(owners, weak.Pointer[number]{})
		}
		if owners[id].Value() == nil {
			n := &number{id: id}
			owners[id] = weak.Make(n)
			return n
		}
	}
	return unnumbered
}

// Pin gives the goroutine a number, of its own if it is below Numbers.
func Pin() Processor { return Processor{free.Get().(*number)} }

// Unpin undoes Pin.
func Unpin(p Processor) {
	if p.number != unnumbered {
		free.Put(p.number)
	}
}
