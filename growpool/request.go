package growpool

// request tells Config.Requested of a request for elements of size bytes. One that is wrong has no bytes.
func (p *Pool[K]) request(key K, shape []int, size uintptr) {
	if size == 0 || len(shape) == 0 {
		return
	}
	if d, ok := dimsOf(shape, size); ok && d.n > 0 {
		p.config.Requested(key, d.n*int(size))
	}
}
