package percpu

// most returns the blocks that a magazine of a class may have: two of them are
// within classBytes.
func most(bytes int64) int32 { return int32(max(1, min(magazineSlots, classBytes/2/bytes))) }

// A budget says how many bytes a processor, or the depot, may hold. Up to share any class of blocks
// of up to small bytes may take; all else, up to most, only one that has earned it, see worth.go.
// Share is a part of what is managed.
type budget struct{ share, small, most int64 }

// shareBytes is the largest block that may have a part of the share: few others would fill it.
const shareBytes = 32 << 10

// flat is a budget of n bytes that any class may take.
func flat(n int64) budget { return budget{n, n, n} }

// budget returns the part of most that is free to take now. It grows with what is managed,
// from a least that costs little memory.
func (c *Cache) budget(most int64) budget {
	o := &c.options
	if o.Divisor == 0 {
		return flat(most)
	}
	managed := max(o.Managed(), 1)
	part := managed / o.Divisor / int64(len(c.cpus)+1)
	return budget{min(most, max(part, o.Least)), shareBytes, most}
}

// allows reports whether bytes may be held in all, and have blocks of a class.
func (c *Cache) allows(b budget, bytes int64, class int, have int32) bool {
	return bytes <= b.share && c.BlockBytes(class) <= b.small || bytes <= b.most && have <= c.wants.earned[class].Load()
}
