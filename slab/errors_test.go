package slab

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// An OutOfMemoryError names blocks that no collection finds where they are more than half of what is active.
func TestAnErrorNamesSmallBlocksWhereTheyAreMost(t *testing.T) {
	for unwatched, named := range map[int64]bool{0: false, 50: false, 51: true, 100: true} {
		text := (&OutOfMemoryError{ActiveBytes: 100, Err: errLost, unwatched: unwatched}).Error()
		if strings.Contains(text, "of at most 4 KiB") != named {
			t.Errorf("%d of 100 bytes: %s", unwatched, text)
		}
	}
}

// A WaitError has the reason of the context, that of the last try if there was one, and who waits beside it.
func TestTextsOfAWaitError(t *testing.T) {
	for want, e := range map[string]*WaitError{
		"slab: waited 0s for 10 bytes: lost":                    {Cause: errLost},
		"slab: waited 0s for 10 bytes: lost: slab: pool closed": {Cause: errLost, Err: ErrClosed},
		"slab: waited 1s for 10 bytes with 30 bytes active in 2 buffers, 1 calls wait: lost: slab: pool closed": {Waited: time.Second,
			Cause: errLost, Err: ErrClosed, bytes: 30, blocks: 2, waiters: 1},
	} {
		e.Size, e.done = 10, context.Canceled
		if e.Error() != want || !errors.Is(e, errLost) || !errors.Is(e, context.Canceled) || errors.Is(e, ErrClosed) != (e.Err != nil) {
			t.Errorf("%v, want %s", e, want)
		}
	}
}
