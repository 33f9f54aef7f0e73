//go:build !race

package handle

// spareBytes is a number that the owner of a slot writes. It is read only after the
// collector has found that there is no owner any more. That is all the
// synchronisation it takes, but the race detector cannot know.
type spareBytes struct{ n uint32 }

func (a *spareBytes) Store(n uint32) { a.n = n }
func (a *spareBytes) Load() uint32   { return a.n }
