package soak

// foundAt returns n, or the least size of a buffer off the Go heap that the collector finds.
func (w *worker) foundAt(n int) int {
	if w.collected || w.contents && !w.host {
		return max(n, 1)
	}
	return max(n, 16<<10)
}

// forget drops a buffer that the pool has to find. On the Go heap a slice of it stays for a while. Of
// other memory a slice may escape, or a stream may work on it.
func (w *worker) forget(n int) (held, error) {
	if w.r.IntN(8) != 0 {
		return w.get(n)
	}
	b, err := w.pool.Get(w.foundAt(n))
	if err != nil {
		return nil, err
	}
	w.dropped = b // which forgets the one before
	w.forgotten.Add(1)
	switch {
	case w.collected:
		w.lookAtViews()
		w.views[w.r.IntN(len(w.views))] = w.mark(b.Bytes())
		return nil, nil
	case !w.host && w.r.IntN(4) == 0:
		w.work(b)
	case w.escape && w.host && w.r.IntN(10) == 0:
		b.Bytes()
		w.quarantined.Add(int64(b.Len()))
	}
	w.write(b)
	return nil, nil
}

// lookAtViews looks at slices whose handles are forgotten: no one else may have their memory.
func (w *worker) lookAtViews() {
	for _, v := range w.views {
		if !v.marked(w) {
			w.violation("forgotten: the memory of a slice that is in use was handed out again")
		}
	}
}
