package main

import "math/rand/v2"

// A live is what a program has on its heap besides buffers: some 20 MiB of small objects, for
// the collector to look at.
type live []*record

type record struct {
	name   *[40]byte
	fields [4]*[2]int
}

const (
	records = 120_000
	changed = 12 // of them by an operation: the garbage that every program makes
)

func newLive() live {
	l := make(live, records)
	for i := range l {
		l[i] = newRecord()
	}
	return l
}

func newRecord() *record {
	r := &record{name: new([40]byte)}
	for i := range r.fields {
		r.fields[i] = new([2]int)
	}
	return r
}

// change has an operation leave garbage.
func (l live) change(r *rand.Rand) {
	for range changed {
		l[r.IntN(len(l))] = newRecord()
	}
}
