package iobuf

import "testing"

// The first size is believed, also one that is large.
func TestTypicalSizeBeginsWithTheFirst(t *testing.T) {
	for n, want := range map[int]int{1: 512, 512: 512, 513: 1024, 10_000: 10 << 10, 60_000: 60 << 10, 10 << 20: 10 << 20, 1 << 30: mostTypical} {
		var s typicalSize
		if s.load() != (typical{}) || s.size() != leastTypical {
			t.Errorf("%d bytes before the first", s.size())
		}
		if !s.note(n) || s.load() == (typical{}) || s.size() != want {
			t.Errorf("%d bytes after one of %d", s.size(), n)
		}
	}
}

// One in ten that is larger does not raise the typical size, and one in ten that is smaller does not
// lower it; one in three that is larger raises it, and keeps it.
func TestTypicalSizeIsThatOfEightInNine(t *testing.T) {
	for _, c := range []struct{ every, one, others, want int }{
		{3, 60_000, 1000, 60 << 10}, {10, 60_000, 1000, 1 << 10}, {10, 1000, 60_000, 60 << 10}, {2, 1000, 60_000, 60 << 10},
	} {
		var s typicalSize
		for i := range 10_000 {
			n := c.others
			if i%c.every == c.every-1 {
				n = c.one
			}
			if s.note(n); i > 100 && s.size() != c.want {
				t.Errorf("one in %d of %d: %d bytes, want %d", c.every, c.one, s.size(), c.want)
				break
			}
		}
	}
}

// It moves to sizes that were seen: up to what the largest of the larger ones needs, but at most four
// times as far at a time, and down as well.
func TestTypicalSizeMoves(t *testing.T) {
	var s typicalSize
	s.note(50_000)
	for i, n := range []int{60_000, 55_000, 70_000, 61_000} {
		if s.note(n) != (i == 3) {
			t.Errorf("the larger size %d: moved to %d", i, s.size())
		}
	}
	if s.size() != 72<<10 {
		t.Errorf("%d bytes, want what the largest of the larger ones needs", s.size())
	}
	for range 4 {
		s.note(1 << 20)
	}
	if s.size() != 288<<10 {
		t.Errorf("%d bytes, want four times as many as before", s.size())
	}
	for i := range sureAt {
		if s.note(100*i + 1); (s.size() != 288<<10) != (i == sureAt-1) {
			t.Errorf("the smaller size %d: %d bytes", i, s.size())
		}
	}
	if s.size() != 3584 {
		t.Errorf("%d bytes, want what the largest of the smaller ones needs", s.size())
	}
	for range 8 { // up again, but no further than it was
		if s.note(200_000) {
			t.Errorf("%d bytes are more than ever", s.size())
		}
	}
}

// While all are of one size nothing is written.
func TestTypicalSizeOfEqualsStays(t *testing.T) {
	var s typicalSize
	s.note(1000)
	was := s.load()
	if s.note(1000) || s.note(1024) || s.load() != was {
		t.Errorf("%+v, not %+v", s.load(), was)
	}
}
