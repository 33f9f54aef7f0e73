package seeded

import (
	"context"
	"io"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
	"github.com/valyala/bytebufferpool"
	"google.golang.org/grpc/mem"
)

// column builds a column of numbers.
func column(pool any, n int) (*array.Int64, int) {
	b := array.NewInt64Builder(pool)
	for i := range n {
		b.Append(int64(i))
	}
	a := b.NewInt64Array()
	b.Release()
	b.Append(0) // want `counted memory is used after its Release`
	return a, n
}

// total adds up a column.
func total(pool any) (sum int64) {
	b := array.NewInt64Builder(pool)
	defer b.Release()
	a := b.NewInt64Array()
	values := a.Int64Values()
	a.Release()
	for _, v := range values { // want `slice of the counted memory is used after its Release`
		sum += v
	}
	return sum
}

// cell computes with the arrays of a cell.
func cell(ctx context.Context, p *growpool.Pool[string], rows int) (float64, error) {
	l, err := growpool.Acquire[float64](ctx, p, "coeff", rows)
	if err != nil {
		return 0, err
	}
	m := l.Slice()
	for i := range m {
		m[i] = float64(i)
	}
	if err := l.Release(); err != nil {
		return 0, err
	}
	return l.At(rows - 1), nil // want `buffer is used after its Release`
}

// line formats a row.
func line(w io.Writer, row string) error {
	b := bytebufferpool.Get()
	b.WriteString(row)
	bytebufferpool.Put(b)
	_, err := w.Write(b.B) // want `pooled object is used after its Put`
	return err
}

// frame copies a message for the peer.
func frame(data []byte, pool mem.BufferPool, w io.Writer) error {
	b := mem.Copy(data, pool)
	b.Free()
	_, err := w.Write(b.ReadOnlyData()) // want `counted memory is used after its Free`
	return err
}

// typed computes in memory of a pool.
func typed(p *slab.Pool, n int) ([]float64, error) {
	s, err := slab.Make[float64](p, n)
	if err != nil {
		return nil, err
	}
	defer s.Release()
	values := s.Slice()
	for i := range values {
		values[i] = 1
	}
	return values, nil // want `slice of the buffer is returned`
}

// head looks at the first bytes.
func head(b slab.PooledBuffer) []byte {
	var first []byte
	b.With(func(m []byte) { first = m[:8] }) // want `slice is kept in a variable, and With ends when its function returns`
	return first
}
