package freelist

import (
	"slices"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// A block without a key is never held.
func TestABlockWithoutAKeyIsNotHeld(t *testing.T) {
	a := upstreamtest.Block(10)
	for _, ordered := range []bool{true, false} {
		o := unbounded
		o.Ordered = ordered
		l := New(o)
		for _, key := range []int{-1, -2} {
			if out := l.Push(key, a, 10, nil); !slices.Equal(out, []device.Block{a}) || l.blocks != 0 {
				t.Errorf("key %d: %v left", key, out)
			}
		}
	}
}

// A stranded block serves no Pop, is held whatever the bounds are, and leaves as others do.
func TestAStrandedBlockIsHeldUntilItLeaves(t *testing.T) {
	a, b := upstreamtest.Block(10), upstreamtest.Block(20)
	for _, ordered := range []bool{true, false} {
		for name, leave := range map[string]func(*List) []device.Block{
			"Clear": func(l *List) []device.Block { return l.Clear(nil) },
			"Stop":  func(l *List) []device.Block { return l.Stop(nil) },
			"Trim":  func(l *List) []device.Block { return l.Trim(0, nil) },
			"victims": func(l *List) (out []device.Block) {
				for b, ok := l.PopVictim(); ok; b, ok = l.PopVictim() {
					out = append(out, b)
				}
				return out
			},
		} {
			l := New(Options{MaxBytes: 10, MaxBlocks: 1, MaxBlockBytes: 10, Ordered: ordered})
			l.Push(3, a, 10, nil)
			l.Strand(b, 20)
			if l.Blocks() != 2 || l.Bytes() != 30 {
				t.Errorf("%d bytes in %d blocks", l.Bytes(), l.Blocks())
			}
			for key := -1; key < 30; key++ {
				if got, ok := l.Pop(key); ok && got != a {
					t.Errorf("Pop(%d) = %v", key, got)
				} else if ok {
					l.hold(3, a, 10)
				}
			}
			if err := l.check(); err != nil {
				t.Error(err)
			}
			out := leave(l)
			if !slices.Contains(out, a) || !slices.Contains(out, b) || l.Bytes() != 0 {
				t.Errorf("%s: %v left, %d bytes held", name, out, l.Bytes())
			}
			if err := l.check(); err != nil {
				t.Error(err)
			}
		}
	}
}
