// Package vet finds misuse of pooled buffers before a program runs.
//
// [Analyzer] looks at functions that get, release or return pooled memory: buffers of
// bufslab, objects of a sync.Pool, Arrow's counted memory and some more; rules.go lists
// them. The command cmd/bufslabvet runs it.
//
// It works on the SSA form of a package. A report needs a proof of a kind: the buffer was
// released on every path that leads to the use, nothing but the use can follow the release,
// or a path leads from a Get to where the function has forgotten the buffer. Where a function
// passes a buffer on to unknown code for good, the analyzer is silent.
//
// From the table down to the reports:
//
//	rules.go     what begins and what ends the life of memory
//	base.go      which values are names of the same memory, which are views of it
//	effects.go   what a call ends
//	must.go      what has ended on every path
//	straight.go  what follows a release for certain
//	fate.go      where a value goes: released, returned, passed on
//	ends.go      which instruction does that
//	forget.go    which path forgets it, by
//	walk.go      the paths,
//	known.go     what conditions say on them,
//	given.go     what those say that lead to the Get, and
//	taken.go     whether a call that has the value keeps it
//	library.go   that a library keeps it in its result alone
//	outlive.go   which slices outlive their buffer, by goroutine.go, listed.go and wait.go
//	loop.go      what a loop overwrites, or piles up by a defer
//	summary.go   what a function does with its parameters, told to other packages by a fact
package vet
