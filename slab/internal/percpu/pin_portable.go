//go:build bufslab_portable || race

package percpu

import "github.com/bufslab/bufslab/internal/pin"

// Pin locks the caches of some processor, mostly the one it runs on, and returns
// its number: in this build goroutines cannot be pinned, or the race detector would
// not see that they are.
func (c *Cache) Pin() (id int) {
	id = pin.Pin() % len(c.cpus)
	c.cpus[id].mu.Lock()
	return id
}

// Unpin undoes Pin.
func (c *Cache) Unpin(id int) { c.cpus[id].mu.Unlock() }

// quiesce waits until every goroutine that read the old limit of a class cache has
// unpinned.
func (c *Cache) quiesce() {
	for i := range c.cpus {
		c.cpus[i].mu.Lock()
		c.cpus[i].mu.Unlock() //nolint:staticcheck // that it could be had is all
	}
}
