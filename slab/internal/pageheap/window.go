package pageheap

// A window knows the most bytes that were in use at a time since it began.
type window struct {
	most   int64
	epochs int // since then
}

// end ends an epoch; used is the bytes in use now. After idle epochs it returns the most bytes
// that were in use, and the window begins again.
func (w *window) end(idle int, used int64) (most int64, ended bool) {
	if w.epochs++; w.epochs < idle {
		return 0, false
	}
	most = w.most
	*w = window{most: used}
	return most, true
}
