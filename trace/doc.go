// Package trace reads, writes and replays recordings of allocations.
//
// A trace is a CSV file, gzip or not, with a line for every allocation and
// every free in the order in which a program made them:
//
//	op,id,size
//	a,0,4096
//	a,1,100
//	f,0,4096
//	f,1,100
//
// An id is any number that no other live allocation has; the size of a free
// repeats that of its allocation or is left empty. The columns key, stream and
// time_ns may follow. The header may be missing: columns then stand in that
// order. Each row ends with a newline: a last one without was cut short and is dropped.
// Logs of RMM's logging resource adaptor need no conversion.
//
// A keyed trace has the requests to the buffers of a growpool.Pool instead:
//
//	op,key,size
//	g,coeff,65468160
//	g,E_tilda_lm,1843200
//
// [Load] reads a file and [Replay] runs it through a pool. [Reader] and
// [Writer] work row by row. The columns are parsed in format.go; reader.go
// checks that the rows follow from each other.
package trace
