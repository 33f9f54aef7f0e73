package slab

import (
	"encoding"
	"fmt"

	"github.com/bufslab/bufslab/internal/refs"
)

var (
	_ encoding.TextMarshaler   = Ref{}
	_ encoding.TextUnmarshaler = (*Ref)(nil)
)

// The text of a Ref has the number of its pool, then the number of the buffer. Numbers of pools count up
// from a number that the process draws at random when it starts, so they also tell processes apart.
const refPrefix = "slabref-"

// String returns the text that [ParseRef] reads back to r, of at most 41 bytes: letters, digits and
// hyphens. It is the same for equal Refs.
func (r Ref) String() string { return refs.Name{Table: r.pool, Number: r.number}.Text(refPrefix) }

// ParseRef reads the text that String returns. For any other text the error is a *[RefError]. ParseRef does
// not look for the buffer: [Ref.Get] fails if the buffer is no longer active, or of another process.
func ParseRef(text string) (Ref, error) {
	n, ok := refs.Parse(refPrefix, text)
	if !ok {
		return Ref{}, &RefError{Text: text}
	}
	return Ref{n.Table, n.Number}, nil
}

// MarshalText returns the text of String, and no error. So a Ref is a string in JSON, also as the key of
// a map.
func (r Ref) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText is [ParseRef]. If it fails r is as before. It is not safe for concurrent use.
func (r *Ref) UnmarshalText(text []byte) error {
	parsed, err := ParseRef(string(text))
	if err == nil {
		*r = parsed
	}
	return err
}

// A RefError says that a text is no text of [Ref.String].
type RefError struct {
	Text string // all of it
}

// Error quotes the beginning of the text.
func (e *RefError) Error() string {
	const most = 60
	if len(e.Text) <= most {
		return fmt.Sprintf("slab: %q is not the text of a Ref", e.Text)
	}
	return fmt.Sprintf("slab: %q and %d bytes more are not the text of a Ref", e.Text[:most], len(e.Text)-most)
}
