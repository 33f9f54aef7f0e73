package bitset

import (
	"math/rand/v2"
	"testing"
)

func TestBitsetLikeAModel(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		most := 1 + r.IntN(20_000)
		var s Set
		model := map[int]bool{}
		for range 2000 {
			if i := r.IntN(most); model[i] {
				s.Clear(i)
				delete(model, i)
			} else {
				s.Grow(i)
				s.Set(i)
				model[i] = true
			}
			from := r.IntN(most + 100)
			if got, want := s.Next(from), nextOf(model, from, most); got != want {
				t.Fatalf("next(%d) = %d, want %d", from, got, want)
			}
		}
		last := -1
		for i := range model {
			last = max(last, i)
		}
		if s.Last() != last {
			t.Fatalf("last() = %d, want %d", s.Last(), last)
		}
	}
}

func nextOf(model map[int]bool, from, most int) int {
	for i := from; i < most; i++ {
		if model[i] {
			return i
		}
	}
	return -1
}

// Grow makes room for the numbers asked for, a word for 64 of them, and no more however often it is called.
func TestGrowMakesNoRoomBeyond(t *testing.T) {
	var s Set
	for i := range 10_000 {
		s.Grow(i)
	}
	if words, summary := len(s.words), len(s.summary); words != 157 || summary != 3 {
		t.Errorf("%d words, and %d of the summary, for 10,000 numbers", words, summary)
	}
}

func TestAnEmptyBitsetHasNothing(t *testing.T) {
	var s Set
	if s.Next(0) != -1 || s.Next(1<<30) != -1 || s.Last() != -1 {
		t.Error("an empty bitset has a bit")
	}
	s.Grow(4095)
	s.Set(4095)
	s.Clear(4095)
	if s.Next(0) != -1 || s.Last() != -1 {
		t.Error("a cleared bit is still there")
	}
}
