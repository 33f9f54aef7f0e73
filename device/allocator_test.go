package device

import (
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// What is managed is all that Usage splits it into.
func TestManagedBytes(t *testing.T) {
	u := Usage{ActiveBlocks: 1000, HeldBlocks: 2000, ActiveBytes: 1, RoundingBytes: 20, HeldBytes: 300, UnusableBytes: 4000}
	if n := u.ManagedBytes(); n != 4321 {
		t.Errorf("%d bytes, not 4321", n)
	}
}

// A device takes no memory of another device of its kind, and that stays what it is.
func TestFreeOfAnothersMemory(t *testing.T) {
	for _, name := range []string{"heap", "mmap", "virtual"} {
		one, two := opened(t, name), opened(t, name)
		b := check.Ok(one.Alloc(100))(t)
		check.Panics(t, "Free of another's memory", func() { two.Free(b) })
		if m := Bytes(b); name != "virtual" && len(m) != 100 {
			t.Errorf("%s: %d bytes are left", name, len(m))
		}
		one.Free(b)
	}
}
