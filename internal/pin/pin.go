// Package pin tells which processor, in the scheduler's sense, a goroutine
// runs on, so that caches can be kept a processor.
//
// ID is a hint: the goroutine may be moved before it returns, and the numbers may
// exceed GOMAXPROCS after it is lowered. Use it to choose a shard that has a
// lock of its own.
package pin
