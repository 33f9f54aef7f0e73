package slab

import "github.com/bufslab/bufslab/device"

// How blocks that wait for streams come back. Whoever takes them out of their
// lanes to give them back holds giving, so that a Get which finds no room can
// tell that none is on its way.

// await takes the block of an entry whose owner is gone, and which streams
// have used.
func (k *core) await(e entry, on []device.Stream, lost bool) {
	k.wait(&waiter{entry: e, uses: record(on), lost: lost})
	k.sweep()
}

// wait lets w wait in its lane, or here and now where the pool holds nothing
// any more: there will be no later call to look after it.
func (k *core) wait(w *waiter) {
	if !k.streams.put(w) {
		w.sync()
		k.settle(w)
	}
}

// settle gives a block back whose uses are over.
func (k *core) settle(w *waiter) {
	if w.lost {
		discard(w.s)
		return
	}
	k.giveBack(w.entry)
}

// sweep gives back what has waited long enough. Where somebody else is giving
// back it leaves that to the next one.
func (k *core) sweep() {
	if k.streams.count.Load() > 0 && k.giving.TryLock() {
		defer k.giving.Unlock()
		k.sweepGiving()
	}
}

// sweepGiving is sweep for who holds giving. It reports whether there was anything.
func (k *core) sweepGiving() (any bool) {
	for k.streams.count.Load() > 0 {
		w := k.streams.done()
		if w == nil {
			break
		}
		k.settle(w)
		any = true
	}
	return any
}

// settleOne waits for the block that has waited longest, and gives it back. It
// reports false when there is none.
func (k *core) settleOne() bool {
	if k.streams.count.Load() == 0 {
		return false
	}
	k.giving.Lock()
	defer k.giving.Unlock()
	return k.settleGiving()
}

func (k *core) settleGiving() bool {
	w := k.streams.oldest(func(*waiter) bool { return true })
	if w == nil {
		return false
	}
	w.sync()
	k.settle(w)
	return true
}
