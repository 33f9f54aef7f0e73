package profile

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/bufslab/bufslab/slab/internal/handle"
)

// A Stack has the program counters of the calls that led to a Get, the innermost first, as
// runtime.Callers fills them in. It is zero behind them.
type Stack [32]uintptr

// An Amount is an estimate.
type Amount struct {
	objects int64 // in units of oneObject, so that what is added can be taken away again
	Bytes   int64
}

const oneObject = 1 << 16

// Objects returns how many buffers a has.
func (a Amount) Objects() int64 { return (a.objects + oneObject/2) / oneObject }

// Add adds b.
func (a *Amount) Add(b Amount) { a.objects += b.objects; a.Bytes += b.Bytes }
func (a *Amount) sub(b Amount) { a.objects -= b.objects; a.Bytes -= b.Bytes }

// A Profile adds samples up by stack: what is out, and what was found forgotten. It keeps
// MaxStacks stacks, and adds up what others have. Its zero value is ready for use. It is safe
// for concurrent use.
type Profile struct {
	mu    sync.Mutex // leaf
	live  map[handle.ID]sample
	sites map[Stack]*site
	empty int  // of sites: those that have nothing any more
	other site // of stacks that are not kept
}

const (
	// MaxStacks is how many stacks a Profile tells apart.
	MaxStacks = 4096
	// mostEmpty is how many of them are kept for their next sample, which then allocates
	// nothing, while there are new ones to keep.
	mostEmpty = MaxStacks / 8
)

// A Usage is what was got by one stack.
type Usage struct {
	InUse, Leaked Amount
}

// A site is a stack, and what was got by it.
type site struct {
	Usage
	past presence
}

// A presence is how long buffers were out: their number, and their bytes, times nanoseconds.
type presence struct{ objects, bytes float64 }

func (s *site) isEmpty() bool { return s.Usage == Usage{} }

type sample struct {
	*site
	amount Amount
	since  time.Time
}

// Add adds a buffer of some bytes, by the name of its slot, that stands for so many.
func (p *Profile) Add(id handle.ID, stack *Stack, bytes int, stands float64) {
	a := Amount{int64(math.Round(stands * oneObject)), int64(math.Round(stands * float64(bytes)))}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live == nil {
		p.live, p.sites = map[handle.ID]sample{}, map[Stack]*site{}
	}
	s := p.site(stack)
	s.InUse.Add(a)
	p.live[id] = sample{s, a, time.Now()}
}

// site returns the site of a stack, which is to have something. The caller holds mu.
func (p *Profile) site(stack *Stack) *site {
	if s := p.sites[*stack]; s != nil {
		if s.isEmpty() {
			p.empty--
		}
		return s
	}
	if len(p.sites) >= MaxStacks && p.empty > mostEmpty {
		maps.DeleteFunc(p.sites, func(_ Stack, s *site) bool { return s.isEmpty() })
		p.empty = 0
	}
	if len(p.sites) >= MaxStacks {
		return &p.other
	}
	s := &site{}
	p.sites[*stack] = s
	return s
}

// Remove takes a buffer out that was added: it was released.
func (p *Profile) Remove(id handle.ID) { p.end(id, false) }

// Forget counts a buffer that was added as leaked: it was found forgotten.
func (p *Profile) Forget(id handle.ID) { p.end(id, true) }

func (p *Profile) end(id handle.ID, leaked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.live[id]
	if !ok {
		return
	}
	delete(p.live, id)
	s.InUse.sub(s.amount)
	s.wasOut(time.Since(s.since))
	if leaked {
		s.Leaked.Add(s.amount)
	}
	if s.site != &p.other && s.isEmpty() {
		p.empty++
	}
}

// wasOut adds a sample to the past, which was out so long.
func (s *sample) wasOut(d time.Duration) {
	long := float64(max(1, d))
	s.past.objects += long * float64(s.amount.objects)
	s.past.bytes += long * float64(s.amount.Bytes)
}

// A Record is what a stack has. Stack is nil for all stacks that are not kept, or not sampled.
type Record struct {
	Stack []uintptr
	Usage
}

// Records lists the stacks that have something, those that are not kept last.
func (p *Profile) Records() (list []Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for stack, s := range p.sites {
		if !s.isEmpty() {
			list = append(list, Record{stack.counters(), s.Usage})
		}
	}
	if !p.other.isEmpty() {
		list = append(list, Record{nil, p.other.Usage})
	}
	return list
}

// Fit scales what is in use and what leaked to sums that are known: samples tell which
// stacks have it, and less well how much. Each stack gets whole buffers, and all of them add up to the sums.
// What no sample shows counts for the stacks that are not kept.
func Fit(list []Record, inUse, leaked handle.Tally) []Record {
	if len(list) == 0 || list[len(list)-1].Stack != nil {
		list = append(list, Record{})
	}
	fit(list, inUse, func(u *Usage) *Amount { return &u.InUse })
	fit(list, leaked, func(u *Usage) *Amount { return &u.Leaked })
	return slices.DeleteFunc(list, func(r Record) bool { return r.Usage == Usage{} })
}

// pastSum is what the shares of the past add up to: a unit.
const pastSum = 1 << 40

// Past lists the stacks of samples that are over, in use as they were on average since the beginning. Only
// the shares mean something. A pool that hands out much and has little out may have no sample of what is
// out: then the past says who has it, if the program does what it did.
func (p *Profile) Past() (list []Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var sum presence
	for _, s := range p.sites {
		sum.objects += s.past.objects
		sum.bytes += s.past.bytes
	}
	for stack, s := range p.sites {
		if s.past.bytes > 0 {
			list = append(list, Record{stack.counters(), Usage{InUse: Amount{
				int64(pastSum * s.past.objects / sum.objects), int64(pastSum * s.past.bytes / sum.bytes)}}})
		}
	}
	return list
}

func fit(list []Record, k handle.Tally, side func(*Usage) *Amount) {
	known := Amount{max(0, k.Blocks) * oneObject, max(0, k.Bytes)} // calls may go on
	var sum Amount
	for i := range list {
		sum.Add(*side(&list[i].Usage))
	}
	if sum == (Amount{}) {
		*side(&list[len(list)-1].Usage) = known
		return
	}
	var passed, given Amount // up to a place in list: what samples tell, and what was shared out
	for i := range list {
		a := side(&list[i].Usage)
		passed.Add(*a)
		*a = Amount{oneObject * scaled(passed.objects, known.objects/oneObject, sum.objects),
			scaled(passed.Bytes, known.Bytes, sum.Bytes)}
		a.sub(given)
		given.Add(*a)
	}
}

// scaled returns n times a by b.
func scaled(n, a, b int64) int64 {
	if b == 0 {
		return 0
	}
	return int64(math.Round(float64(n) * float64(a) / float64(b)))
}

func (s Stack) counters() []uintptr {
	n := 0
	for n < len(s) && s[n] != 0 {
		n++
	}
	return s[:n]
}
