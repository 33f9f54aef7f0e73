// Package references checks what gives out references to arrays: leases of a growpool.Pool and unified
// buffers. A model knows for each text of a reference what it has to open, and what the arrays hold.
package references

import (
	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/fuzz/internal/model"
)

// A Lender has arrays of bytes.
type Lender interface {
	// Get returns an array of n bytes of a key. It returns nil, nil if the key's array is out.
	Get(key, n int) (Holder, error)
	// Open opens the text of a reference.
	Open(text string) (Holder, error)
	// Close ends the lender. What is out stays good.
	Close(out int) error
}

// A Holder is one of those that have an array.
type Holder interface {
	Bytes() ([]byte, error) // nil where it was released
	Text() string           // of its reference, "" where it was released
	Release() error
}

// Property is the property of lenders that open makes: released is the error of what was released.
func Property(open func() (Lender, error), released error) func(*rapid.T) {
	return func(t *rapid.T) {
		l, err := open()
		model.OK(t, err)
		m := &referenceModel{lender: l, released: released, named: map[string]*holder{}}
		model.Repeat(t, map[string]func(*rapid.T){
			"":        m.check,
			"get":     m.get,
			"name":    m.name,
			"open":    m.open,
			"openNow": m.open,
			"release": m.release,
			"write":   m.write,
		})
		m.end(t)
	}
}
