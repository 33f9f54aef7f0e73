package slab

// newStrategy builds what Config.Strategy names. The strategies are
// interchangeable: another line of configuration is all it takes.
func newStrategy(upstream Allocator, c Config) Allocator {
	switch c.Strategy {
	case "direct":
		return NewDirect(upstream, c)
	case "exact":
		return NewExact(upstream, c)
	case "bitlog":
		return NewBitlog(upstream, c)
	case "sizeclass":
		return NewSizeclass(upstream, c)
	case "bestfit":
		return NewBestfit(upstream, c)
	case "slab":
		return NewSlab(upstream, c)
	}
	panic("slab: no strategy " + c.Strategy) // Validate has seen to it
}
