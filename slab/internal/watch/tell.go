package watch

import "sync"

// A teller calls a function for leaks, on goroutines of its own: code that finds a buffer forgotten
// holds locks, and others wait for it.
type teller struct {
	leaked func(Leak) // nil is nobody

	mu     sync.Mutex // leaf
	untold []Leak
}

func (t *teller) tell(l Leak) {
	if t.leaked == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.untold = append(t.untold, l); len(t.untold) == 1 { // else that goroutine is yet to look
		go t.call()
	}
}

func (t *teller) call() {
	t.mu.Lock()
	list := t.untold
	t.untold = nil
	t.mu.Unlock()
	for _, l := range list {
		t.leaked(l)
	}
}
