package slab

// A UsageReporter says what an allocator does with the bytes that it has from
// upstream. Every strategy is one.
type UsageReporter interface{ Usage() Usage }

// Usage splits the bytes that a strategy has from its upstream:
//
//	managed = ActiveBytes + RoundingBytes + HeldBytes + UnusableBytes
type Usage struct {
	ActiveBlocks, HeldBlocks int64
	ActiveBytes              int64 // as asked for
	RoundingBytes            int64 // what active blocks have beyond that
	HeldBytes                int64 // free, and could be handed out
	UnusableBytes            int64 // the rest: tails of slabs, alignment
}

// ManagedBytes is the sum of the four.
func (u Usage) ManagedBytes() int64 {
	return u.ActiveBytes + u.RoundingBytes + u.HeldBytes + u.UnusableBytes
}

// usageOf asks a strategy. If it does not tell, all managed bytes count as handed out.
func usageOf(strategy Allocator, managed int64) Usage {
	if u, ok := strategy.(UsageReporter); ok {
		return u.Usage()
	}
	return Usage{ActiveBytes: managed}
}
