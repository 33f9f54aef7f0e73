// Package wrong uses what it has put back.
package wrong

import "sync"

var pool sync.Pool

// Use gets and puts.
func Use() {
	b := pool.Get().(*[]byte)
	pool.Put(b)
	(*b)[0] = 1
}
