package budget

import "testing"

type counting struct{ calls int }

func (c *counting) FreeHeld() { c.calls++ }

// Reclaim asks all, once.
func TestReclaimAsksAll(t *testing.T) {
	var s Members
	list := make([]counting, 5)
	for i := range list {
		s.Add(&list[i])
	}
	s.Remove(&list[4])
	s.Reclaim()
	for i, m := range list {
		if want := 1 - i/4; m.calls != want {
			t.Errorf("member %d was asked %d times, not %d", i, m.calls, want)
		}
	}
}
