package growpool

// judge checks a request, before anything else happens.
func judge(t element, shape []int) (dims, error) {
	if err := t.check(); err != nil {
		return dims{}, err
	}
	d, ok := dimsOf(shape, t.size)
	if !ok {
		return dims{}, shapeError(shape)
	}
	return d, nil
}

// request calls Config.Requested for a request of elements of size bytes. An invalid request has no bytes.
func (p *Pool[K]) request(key K, shape []int, size uintptr) {
	if size == 0 {
		return
	}
	if d, ok := dimsOf(shape, size); ok && d.n > 0 {
		p.config.Requested(key, d.n*int(size))
	}
}
