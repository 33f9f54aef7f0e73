package main

import (
	"runtime"
	"runtime/debug"
	"time"
)

// settled notes what the process keeps once its program is over: when the pool has given back what it can, and
// a time later. Huge pages can grow back meanwhile.
func (f *figures) settled(m memory, after time.Duration) (err error) {
	runtime.GC()
	if o, is := m.(*ours); is {
		o.pool.Trim(0)
	}
	debug.FreeOSMemory()
	if f.Trimmed, err = residentNow(); err != nil {
		return err
	}
	time.Sleep(after)
	f.Later, err = residentNow()
	return err
}
