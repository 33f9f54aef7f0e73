package iobuf

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// collectAll lets the collector find what the program has let go of, and cleanups run.
func collectAll() {
	for range 3 {
		runtime.GC()
	}
}

// A Buffer keeps its pool: it does all that it could where the program has let go of that. What Detach
// returned outlives the Buffer, too.
func TestABufferOutlivesThePool(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		b := New(slab.MustOpen("device=" + dev))
		text := strings.Repeat("what is written is read again. ", 1000)
		check.Ok(b.WriteString(text[:100]))(t)
		collectAll()
		check.Ok(b.Write([]byte(text[100:200])))(t)
		check.Must(t, b.Grow(1000), b.WriteByte(text[200]))
		check.Ok(b.ReadFrom(strings.NewReader(text[201:])))(t)
		if got := string(b.Bytes()); got != text || b.Cap() < b.Len() || len(b.Segments()) == 0 {
			t.Fatalf("%d bytes", len(got))
		}
		b.Truncate(500)
		check.Ok(io.CopyN(io.Discard, b, 100))(t)
		check.Ok(b.WriteTo(io.Discard))(t)
		b.Reset()
		check.Ok(b.WriteString(text))(t)
		h := check.Ok(b.Detach())(t)
		b.Release()
		b = nil
		collectAll()
		h = check.Ok(h.Grow(2 * h.Len()))(t)
		part := check.Ok(h.Slice(0, len(text)))(t)
		if !bytes.Equal(part.Bytes(), []byte(text)) {
			t.Error("the contents are lost")
		}
		check.Must(t, h.Release(), part.Release())
	}
}
