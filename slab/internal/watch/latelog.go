package watch

import (
	"log/slog"
	"sync"
)

// A LateLog logs errors of code that may hold locks, on another goroutine. Flush has them logged before it returns.
type LateLog struct {
	Log func() *slog.Logger

	mu       sync.Mutex // leaf
	unlogged []string
	writing  sync.Mutex // held while the logger is called, and taken by Flush alone
}

// Error has a text logged. The caller calls Flush on another goroutine.
func (l *LateLog) Error(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unlogged = append(l.unlogged, text)
}

// Flush logs what is not logged yet, and waits for other calls that do so. The caller holds no lock.
func (l *LateLog) Flush() {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	list := l.unlogged
	l.unlogged = nil
	l.mu.Unlock()
	for _, text := range list {
		l.Log().Error(text)
	}
}
