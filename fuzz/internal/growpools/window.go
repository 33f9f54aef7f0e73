package growpools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/growpool"
)

// A window is a view of any element type, as bytes.
type window struct {
	bytes   []byte
	valid   func() bool
	release func() error // of a lease
}

// A kind is an element type to ask for.
type kind struct {
	size    int
	get     func(t *rapid.T, p *growpool.Pool[string], key string, shape []int) (window, error)
	acquire func(t *rapid.T, p *growpool.Pool[string], key string, shape []int) (window, error)
}

// GoString is how rapid prints what a program draws.
func (k kind) GoString() string { return fmt.Sprintf("%d bytes", k.size) }

type odd struct {
	_ int32
	_ [3]int16
}

var kinds = []kind{kindOf[byte](), kindOf[float64](), kindOf[int16](), kindOf[complex128](), kindOf[[3]byte](),
	kindOf[odd]()}

func kindOf[T any]() kind {
	var x T
	return kind{
		size: int(unsafe.Sizeof(x)),
		get: func(t *rapid.T, p *growpool.Pool[string], key string, shape []int) (window, error) {
			v, err := growpool.Get[T](p, key, shape...)
			if err != nil {
				return window{}, err
			}
			return judged(t, v, shape), nil
		},
		acquire: func(t *rapid.T, p *growpool.Pool[string], key string, shape []int) (window, error) {
			l, err := growpool.Acquire[T](model.NewImpatient(), p, key, shape...)
			if errors.Is(err, context.Canceled) {
				err = fmt.Errorf("it would wait, %w: %w", err, device.ErrOutOfMemory)
			}
			if err != nil {
				return window{}, err
			}
			w := judged(t, l.View, shape)
			w.release = l.Release
			return w, nil
		},
	}
}

// judged fails unless v has exactly the shape that was asked for, and returns it
// as a window.
func judged[T any](t *rapid.T, v growpool.View[T], shape []int) window {
	var x T
	n := 1
	for _, k := range shape {
		n *= k
	}
	m := v.Slice()
	if len(m) != n || cap(m) != n || v.Len() != n || !slices.Equal(v.Shape(), shape) {
		t.Fatalf("shape %v: a view of shape %v, length %d, slice of %d, capacity %d", shape, v.Shape(), v.Len(), len(m),
			cap(m))
	}
	if at := uintptr(unsafe.Pointer(unsafe.SliceData(m))); n > 0 && at%unsafe.Alignof(x) != 0 {
		t.Fatalf("elements of %T at %#x", x, at)
	}
	if !v.Valid() {
		t.Fatalf("a fresh view of shape %v is not valid", shape)
	}
	if n == 0 {
		return window{valid: v.Valid}
	}
	last := make([]int, len(shape))
	for i, k := range shape {
		last[i] = k - 1
	}
	if row := v.Row(last[:len(last)-1]...); &row[len(row)-1] != &m[n-1] || len(row) != shape[len(shape)-1] {
		t.Fatalf("shape %v: the last row has %d elements", shape, len(row))
	}
	v.Set(v.At(last...), last...)
	return window{bytes: unsafe.Slice((*byte)(unsafe.Pointer(&m[0])), n*int(unsafe.Sizeof(x))), valid: v.Valid}
}

// drawShape draws up to four dimensions, of at most that many elements in all.
func drawShape(t *rapid.T, most int) (shape []int, n int) {
	n = 1
	for range rapid.IntRange(1, 4).Draw(t, "rank") {
		k := rapid.IntRange(0, max(1, most/max(1, n))).Draw(t, "dimension")
		shape = append(shape, k)
		n *= k
	}
	return shape, n
}
