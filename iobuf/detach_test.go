package iobuf_test

import (
	"bytes"
	"testing"

	"github.com/bufslab/bufslab/iobuf"
	"github.com/bufslab/bufslab/slab"
)

// Detach hands over all contents, however many segments they have.
func TestDetachHasAllSegments(t *testing.T) {
	pool := slab.MustOpen("")
	defer pool.Close()
	want := make([]byte, 300<<10)
	for i := range want {
		want[i] = byte(i % 251)
	}
	for n := 1; n < len(want); n += 1 + n/3 {
		b := iobuf.New(pool)
		if _, err := b.ReadFrom(bytes.NewReader(want[:n])); err != nil {
			t.Fatal(err)
		}
		h, err := b.Detach()
		if err != nil || !bytes.Equal(h.Bytes(), want[:n]) {
			t.Errorf("of %d bytes there are %d, %v", n, h.Len(), err)
		}
		if err := h.Release(); err != nil || b.Len() != 0 {
			t.Errorf("%v, and %d bytes are left", err, b.Len())
		}
	}
}
