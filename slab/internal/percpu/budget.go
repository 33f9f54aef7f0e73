package percpu

// most returns the blocks that a magazine of a class may have: two of them are
// within classBytes.
func most(bytes int64) int32 { return int32(max(1, min(magazineSlots, classBytes/2/bytes))) }

// A budget says how many bytes a processor, or the depot, may hold. Up to share any class may
// take; from there to most only one that was refused often enough, see allows. Share is a part
// of what is managed.
type budget struct{ share, most, managed int64 }

// flat is a budget of n bytes that any class may take.
func flat(n int64) budget { return budget{n, n, max(n, 1)} }

// budget returns the part of most that is free to take now. It grows with what is managed,
// from a least that costs little memory.
func (c *Cache) budget(most int64) budget {
	o := &c.options
	if o.Divisor == 0 {
		return flat(most)
	}
	managed := max(o.Managed(), 1)
	part := managed / o.Divisor / int64(len(c.cpus)+1)
	return budget{min(most, max(part, o.Least)), most, managed}
}

// depotBudget is that of the depot. What is there serves all processors: so it is bounded by
// what is managed only where the strategy would make more of it.
func (c *Cache) depotBudget() budget {
	if !c.options.Merges {
		return flat(c.options.Depot)
	}
	return c.budget(c.options.Depot)
}

const (
	// blockPrice is how many refusals a block costs that is above the share, and as many
	// more for each part of what is managed that it is: to go to the strategy takes as
	// long for any block, but a large one, held for nothing, costs more memory.
	blockPrice = 16
	dearShare  = 256 // the part, as a divisor
)

// price is what the nth block of a class costs.
func (b budget) price(nth int32, size int64) int64 {
	return blockPrice * int64(nth) * (1 + size*dearShare/b.managed)
}

// allows reports whether bytes may be held in all. Refused counts, for the one that asks,
// how often the share was too small. When that is the price it may have more: so a class
// in use has what it needs even where little is managed.
func (b budget) allows(bytes int64, refused *uint32, price int64) bool {
	if bytes <= b.share {
		return true
	}
	*refused++
	return bytes <= b.most && int64(*refused) > price
}
