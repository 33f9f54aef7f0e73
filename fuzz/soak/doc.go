// Package soak uses pools in every way at once, on goroutines that hand buffers to each other, while
// processors, collector and limits change. It finds what only time finds: races between giving back
// and getting, leaks of memory and of addresses, buffers that are somebody else's.
//
// [Run] does so on devices that a test names, which fail and panic: for as long as BUFSLAB_SOAK says, or
// a tenth of a second. [Line] does so with a pool of a line, for the command fuzz/stress.
//
//	run.go, worker.go     what both do: goroutines; counts.go: what they count
//	blocks.go             the ways to have memory of a pool; shared.go: by several handles; forget.go: by none
//	clients.go            those of the packages over it
//	contents.go, marks.go how they write, read, and let streams work
//	weather.go            what changes meanwhile
//	soak.go, round.go     rounds of two pools on one limit, and what must be left of them
//	fickle.go             a device that fails, panics and takes its time
//	footprint.go          what the process has of the system
//	stress.go, lines.go   a line, and what it must have come to
package soak
