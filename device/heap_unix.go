//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris

package device

import "os"

// Discard gives back the pages that lie in the n bytes from off entirely. The
// runtime does not have to know: it clears memory before it makes another
// object of it, and memory of nobody it gives back by its own clock, late.
func (r *heapRegion) Discard(off, n int) error {
	if err := checkSpan(off, n, r.size, 1); err != nil {
		return err
	}
	m := r.Bytes()
	if m == nil {
		return nil // the collector has it
	}
	page := os.Getpagesize()
	to := -int(address(m) % uintptr(page)) // of the page boundary at or before m[0]
	lo, hi := roundUp(off-to, page)+to, (off+n-to)&^(page-1)+to
	return release(m, lo, hi)
}
