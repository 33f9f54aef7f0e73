//go:build race

package percpu

import "github.com/bufslab/bufslab/internal/pin"

// Pin locks the caches of a processor, mostly the current one, and returns the
// processor: the race detector would not see that a goroutine is pinned.
func (c *Cache) Pin() pin.Processor {
	if c.acting != nil {
		c.acting.mu.Lock()
		return 0
	}
	p := pin.Pin() % pin.Processor(len(c.cpus))
	c.cpus[p].mu.Lock()
	return p
}

// Unpin undoes Pin.
func (c *Cache) Unpin(p pin.Processor) {
	if c.acting != nil {
		c.acting.mu.Unlock()
		return
	}
	c.cpus[p].mu.Unlock()
}

// quiesce waits until every goroutine that read the old limit of a class cache has
// unpinned.
func (c *Cache) quiesce() {
	for i := range c.cpus {
		c.cpus[i].mu.Lock()
		c.cpus[i].mu.Unlock() //nolint:staticcheck // to have had the lock is all
	}
}
