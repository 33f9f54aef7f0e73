package model

import "context"

// An Impatient context is done as soon as somebody waits for it: a program of one
// goroutine has no other to end a wait.
type Impatient struct {
	context.Context
	cancel context.CancelFunc
}

// NewImpatient returns a context that nobody has waited for.
func NewImpatient() Impatient {
	ctx, cancel := context.WithCancel(context.Background())
	return Impatient{ctx, cancel}
}

// Done ends the context.
func (i Impatient) Done() <-chan struct{} {
	i.cancel()
	return i.Context.Done()
}
