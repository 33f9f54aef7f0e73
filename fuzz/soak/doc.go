// Package soak runs pools of the devices that a test names for as long as BUFSLAB_SOAK
// says, or a tenth of a second. It finds what only time finds: races between giving back
// and getting, leaks of memory and of addresses, buffers that are somebody else's.
//
//	soak.go       rounds, and the figures of all
//	round.go      two pools on one limit, and what must be left of them
//	worker.go     what goroutines do
//	contents.go   how they write, read, and let streams work
//	fickle.go     a device that fails, panics and takes its time
//	footprint.go  what the process has of the system
package soak
