package unified

import (
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/slab"
)

var (
	// ErrConflict says that both sides were written, so that one of the writes would
	// be lost. Nothing changed.
	ErrConflict = errors.New("both sides were written")
	// ErrUninitialized says that a side was marked as written and has no contents.
	ErrUninitialized = errors.New("side holds nothing")
	// ErrReleased says that the buffer was freed or released. It wraps slab.ErrReleased.
	ErrReleased = fmt.Errorf("unified: Buffer freed or released already (%w)", slab.ErrReleased)
	// ErrType says that an element type holds pointers, or differs from that of the buffer that a Ref names.
	ErrType = errors.New("no element type for it")
	// ErrView says that Free or Release was called on a view of a part; only the
	// whole buffer can be freed.
	ErrView = errors.New("a view has no memory of its own")
)
