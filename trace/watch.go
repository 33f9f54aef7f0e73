package trace

// runWatched is run of a chunk, in the parts between which Replayer.Watch wants to look.
func (r *replay) runWatched(c *chunk, slots int) error {
	if r.Watch == nil {
		return r.run(c, slots)
	}
	for len(c.steps) > 0 {
		if r.events == 0 {
			r.nextWatch = r.Watch(0, 0)
		}
		n := len(c.steps)
		if left := r.nextWatch - r.events; left > 0 {
			n = min(n, left)
		}
		part, rest := c.cut(n)
		if err := r.run(part, slots); err != nil {
			return err
		}
		if r.events == r.nextWatch {
			r.nextWatch = r.Watch(r.events, part.time(n-1))
		}
		c = rest
	}
	return nil
}

// cut returns the first n steps of c and the others. It copies nothing.
func (c *chunk) cut(n int) (head, tail *chunk) {
	head, tail = &chunk{steps: c.steps[:n], large: c.large}, &chunk{steps: c.steps[n:], large: c.large}
	head.threads, tail.threads = cutColumn(c.threads, n)
	head.streams, tail.streams = cutColumn(c.streams, n)
	head.times, tail.times = cutColumn(c.times, n)
	return head, tail
}

// cutColumn cuts a column, which is nil if all of it is 0.
func cutColumn[S ~[]T, T any](s S, n int) (head, tail S) {
	if s == nil {
		return nil, nil
	}
	return s[:n], s[n:]
}
