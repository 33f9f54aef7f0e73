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
			r.nextWatch = r.Watch(r.events, part.times.at(n-1))
		}
		c = rest
	}
	return nil
}

// cut returns the first n steps of c and the others. It copies nothing.
func (c *chunk) cut(n int) (head, tail *chunk) {
	head, tail = &chunk{steps: c.steps[:n], large: c.large}, &chunk{steps: c.steps[n:], large: c.large}
	head.threads, tail.threads = c.threads.cut(n)
	head.streams, tail.streams = c.streams.cut(n)
	head.times, tail.times = c.times.cut(n)
	return head, tail
}
