package slab

// Hooks are functions that a pool calls at events that a program may want to act on. Set
// Config.Hooks before Open, and do not change them afterwards. A nil function is not called.
// Several pools may have the same Hooks, so each call has the name of its pool; see [Pool.Name].
//
// The pool holds no lock meanwhile: a hook may use the pool. Hooks may run on several
// goroutines at once. A panic passes through to the caller of Get, Release or Trim, and the
// pool stays intact. On a goroutine of the pool's a panic ends the program.
type Hooks struct {
	// OutOfMemory is called by each Get that counts in Stats.Failed, before it returns the
	// error. That includes Gets within Grow, and those of an iobuf.Buffer, which may make do with
	// less. A GetContext that ends in a *WaitError does not call it.
	OutOfMemory func(*OutOfMemoryError)

	// Trimmed is called when held memory went upstream because it was not used: by
	// [Pool.Trim], on its caller's goroutine, or by the clock of Config.TrimAfter and Idle,
	// on one of the pool's. bytes is above 0.
	Trimmed func(pool string, bytes int64)

	// Pressure is called when held memory went upstream because memory was short: with Config.Pressure,
	// on the watcher's goroutine, which waits for the hook. why is a sentence that names the file, the
	// limit and the use, or what else was short. bytes is above 0.
	Pressure func(pool string, bytes int64, why string)

	// Leaked is called for each buffer that the collector found forgotten, some time after,
	// on a goroutine of the pool's. A buffer with parts causes one call. Off the heap so does each
	// part that was forgotten while another handle has the memory. Site is empty unless the pool
	// keeps call sites: with Config.Check, Strict or OnForget=report.
	Leaked func(pool string, l Leak)

	// DoubleRelease is called by each Release that counts in Stats.DoubleReleases, on its
	// goroutine, before it returns ErrReleased, or panics with Config.Strict. bytes is the
	// length of the buffer.
	DoubleRelease func(pool string, bytes int)

	// Guard is called for each use after Release that counts in Stats.GuardFaults, some time
	// after, on a goroutine of the pool's.
	Guard func(*GuardError)
}

func (h *Hooks) guardFault(err *GuardError) {
	if h != nil && h.Guard != nil {
		h.Guard(err)
	}
}

func (h *Hooks) outOfMemory(err *OutOfMemoryError) {
	if h != nil && h.OutOfMemory != nil {
		h.OutOfMemory(err)
	}
}

func (h *Hooks) trimmed(pool string, bytes int64) {
	if h != nil && h.Trimmed != nil && bytes > 0 {
		h.Trimmed(pool, bytes)
	}
}

func (h *Hooks) pressure(pool string, bytes int64, why string) {
	if h != nil && h.Pressure != nil && bytes > 0 {
		h.Pressure(pool, bytes, why)
	}
}
