package grow

import (
	"errors"

	"github.com/bufslab/bufslab/slab"
)

func dropped(b slab.PooledBuffer) (slab.PooledBuffer, error) {
	_, err := b.Grow(20) // want `result of Grow is dropped, and the handle that it replaces is stale: keep the one that Grow returns`
	return b, err
}

func asked(b slab.PooledBuffer) bool {
	_, err := b.Grow(20)
	return errors.Is(err, slab.ErrReleased)
}
