package slab

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A strategyFunc opens a strategy that a program has registered.
type strategyFunc = func(upstream Allocator, c Config) Allocator

var registered = struct {
	sync.Mutex
	open map[string]strategyFunc
}{open: map[string]strategyFunc{}}

// Register gives a strategy a name for [Config].Strategy, as sql.Register does with
// drivers: from then on strategy=NAME works wherever a Config is read. Call Register in an
// init function. It panics if open is nil or the name is taken, empty or has other
// characters than letters, digits, hyphens and underscores.
//
// Each pool calls open, with a valid Config that has its defaults, and with an upstream that
// keeps the pool's budget and counts. The strategy that open returns must not be nil, and must
// be safe for concurrent use. If it is a [Holder] and a [Trimmer], it gives back when the pool
// does. If it is a [UsageReporter], Stats shows its held memory; else all bytes that it has
// from upstream count as handed out. The pool verifies the blocks of the strategy: an error
// wraps ErrUpstream if a block breaks the contract of Allocator.
//
// Pools of a registered strategy have no caches unless cache_bytes asks for them. Package fuzz
// tests a strategy: see [github.com/bufslab/bufslab/fuzz.CheckAllocator].
func Register(strategy string, open func(upstream Allocator, c Config) Allocator) {
	registered.Lock()
	defer registered.Unlock()
	switch _, taken := registered.open[strategy]; {
	case open == nil:
		panic(fmt.Sprintf("slab: Register of %q with a nil function", strategy))
	case taken || isBuiltin(strategy):
		panic(fmt.Sprintf("slab: Register of %q, which is there already", strategy))
	case strategy == "" || strings.ContainsFunc(strategy, notOfName):
		panic(fmt.Sprintf("slab: Register of %q: want letters, digits, hyphens, underscores", strategy))
	}
	registered.open[strategy] = open
}

func notOfName(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
}

// Strategies returns the names of the strategies: our own, the simplest first, and then
// the registered ones by name.
func Strategies() []string {
	registered.Lock()
	defer registered.Unlock()
	var names []string
	for _, r := range rows {
		names = append(names, r.name)
	}
	return append(names, slices.Sorted(maps.Keys(registered.open))...)
}

// openRegistered returns a registered strategy over up.
func openRegistered(up upstream.Checked, c Config) Allocator {
	registered.Lock()
	open := registered.open[c.Strategy]
	registered.Unlock()
	s := open(up, c)
	if s == nil {
		panic("slab: strategy " + c.Strategy + " opened nil")
	}
	return s
}

// A verified draws on a strategy of the program's and verifies its blocks.
type verified struct {
	forward
	strategy Allocator
	up       upstream.Checked // the same
	managed  func() int64
}

func newVerified(strategy Allocator, align int, managed func() int64) *verified {
	up := upstream.Check(strategy, false, align)
	v := &verified{forward: forwardTo(strategy), strategy: strategy, up: up, managed: managed}
	v.Voucher = up.Voucher()
	return v
}

// Alloc returns a block of the strategy.
func (v *verified) Alloc(size int) (device.Block, error) {
	if err := upstream.CheckSize(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	return v.up.Alloc(size)
}

// Free gives a block back to the strategy.
func (v *verified) Free(b device.Block) {
	if b != (device.Block{}) {
		v.up.Free(b)
	}
}

// Usage is the strategy's; if it has none, all its managed bytes count as handed out. A
// strategy may not know how large regions are: bytes that its Usage lacks are rounding.
func (v *verified) Usage() Usage {
	m := v.managed()
	u := usageOf(v.strategy, m)
	u.RoundingBytes += m - u.ManagedBytes()
	return u
}
