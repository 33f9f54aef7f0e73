// Package trace reads, writes and replays recordings of allocations.
//
//	t, err := trace.Load("t.csv.gz")               // a pool with record=t.csv.gz has written it
//	pool, err := slab.OpenConfig(slab.Config{Device: "virtual", Strategy: "slab"}) // addresses without memory
//	r, err := trace.Replay(t, pool)
//	fmt.Println(r.FootprintRatio, r.MissRatio)     // peak managed by peak live bytes; calls upstream
//
// The command bufslab does this for many lines at a time. What is here:
//
//	Load, Read      a Trace, of a file or a reader
//	Replay          runs a Trace through a pool; a Replayer does so on several processors,
//	                or while the trace is read
//	Reader, Writer  work row by row
//
// # The file
//
// A trace is a CSV file, gzip or not, with a line for every allocation, grow and free in the order in
// which a program made them:
//
//	op,id,size
//	a,0,4096
//	a,1,100
//	g,1,200
//	f,0,4096
//	f,1,200
//
// An id is any number that no other live allocation has. A row g says that the allocation goes on with
// another size, as after slab.PooledBuffer.Grow. The size of a free repeats the last one of its
// allocation or is left empty. The columns key, stream, thread and time_ns may follow. Without a
// header the columns are in that order. Each row ends with a newline: a last one without was cut
// short and is dropped. gzip files may have several members, one after another. A row d,heap, names the device
// of the pool. Rows s,, of older recordings are left out.
//
// A keyed trace has the requests to the buffers of a growpool.Pool instead. Its rows g have a key and no id:
//
//	op,key,size
//	g,coeff,65468160
//	g,E_tilda_lm,1843200
//
// # The code
//
// rows.go cuts rows into fields, format.go parses them, live.go checks that they follow from
// each other, and builder.go makes the chunks that run.go replays; watch.go lets others look meanwhile.
package trace
