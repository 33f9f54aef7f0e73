package growpool

import (
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// What keys keep idle goes back when the bound of the memory falls; what is leased stays.
func TestABoundThatFallsTakesWhatIsIdle(t *testing.T) {
	for _, line := range []string{"max_bytes=16MiB", "device=mmap,max_bytes=16MiB"} {
		memory := openSlab(t, line)
		p := New[string](memory, Config{})
		leased := check.Ok(Acquire[byte](t.Context(), p, "leased", 1<<20))(t)
		check.Ok(Acquire[byte](t.Context(), p, "idle", 4<<20))(t).Release()
		if s := memory.Stats(); s.ManagedBytes < 5<<20 {
			t.Fatalf("%s: %v", line, s)
		}
		check.Must(t, memory.SetMaxBytes(2<<20))
		if s := memory.Stats(); s.ManagedBytes > 2<<20 || s.ActiveBytes < 1<<20 {
			t.Errorf("%s: %v", line, s)
		}
		leased.Slice()[0] = 1
		leased.Release()
		check.Must(t, p.Close())
	}
}

// Where the memory makes what is beyond its bound, keys have that, too, and give it back.
func TestKeysBeyondASoftBound(t *testing.T) {
	memory := openSlab(t, "device=mmap,max_bytes=1MiB,overflow=make")
	p := New[string](memory, Config{})
	a := check.Ok(Get[byte](p, "a", 2<<20))(t)
	a.Slice()[2<<20-1] = 1
	if s := memory.Stats(); s.OverflowBlocks != 1 || s.OverflowBytes < 2<<20 || s.ManagedBytes > 1<<20 {
		t.Error(s)
	}
	check.Must(t, p.Close())
	if s := memory.Stats(); s.ManagedBytes > 1<<20 || s.ActiveBlocks > 0 {
		t.Error(s)
	}
}
