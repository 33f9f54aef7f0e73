// Package floor knows the least that a pool has out at the collections of a row: what goes up and down between two
// collections does not count. What a program holds for good is part of that, and so is all that it has forgotten.
//
//	floor.go    the least of a row
//	lookout.go  on the Go heap: when to look without the caches
//	growth.go   off the Go heap: what grows without end
package floor

// perRow is the collections of a row.
const perRow = 8

// A floor is the least of the row that has begun. The zero floor is ready.
type floor struct {
	seen  int // collections
	least int64
}

// collected hears of a collection after which out bytes are active. It returns the least of a row that has ended.
func (f *floor) collected(out int64) (least int64, ended bool) {
	if f.seen == 0 || out < f.least {
		f.least = out
	}
	if f.seen++; f.seen < perRow {
		return 0, false
	}
	f.seen = 0
	return f.least, true
}
