package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	arrowmemory "github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

var schema = arrow.NewSchema([]arrow.Field{
	{Name: "id", Type: arrow.PrimitiveTypes.Int64},
	{Name: "amount", Type: arrow.PrimitiveTypes.Float64},
	{Name: "place", Type: arrow.BinaryTypes.String},
}, nil)

const remembered = 3 // batches that are worked on later

// arrowTables builds batches of 500 to 45,000 rows, doubles a column, writes them as Parquet
// into a buffer and reads them back.
func arrowTables(j *job) error {
	alloc := j.arrow()
	return j.clients(1, func(c *client) (op, end func() error, err error) {
		var batches []arrow.RecordBatch
		op = func() error {
			b := build(alloc, c, between(c.Rand, 500, 45_000))
			if batches = append(batches, b); len(batches) > remembered {
				batches[0].Release()
				batches = batches[1:]
			}
			return errors.Join(doubled(alloc, b), j.roundTrip(alloc, b))
		}
		return op, func() error { release(batches); return nil }, nil
	})
}

func release(batches []arrow.RecordBatch) {
	for _, b := range batches {
		b.Release()
	}
}

func build(alloc arrowmemory.Allocator, c *client, rows int) arrow.RecordBatch {
	b := array.NewRecordBuilder(alloc, schema)
	defer b.Release()
	id, amount := b.Field(0).(*array.Int64Builder), b.Field(1).(*array.Float64Builder)
	place := b.Field(2).(*array.StringBuilder)
	for i := range rows {
		id.Append(int64(i))
		amount.Append(c.Float64())
		place.Append(fmt.Sprintf("street %d", c.IntN(30_000)))
	}
	return b.NewRecordBatch()
}

// doubled adds the amounts to themselves.
func doubled(alloc arrowmemory.Allocator, b arrow.RecordBatch) error {
	ctx := compute.WithAllocator(context.Background(), alloc)
	amounts := compute.NewDatumWithoutOwning(b.Column(1))
	d, err := compute.Add(ctx, compute.ArithmeticOptions{}, amounts, amounts)
	if err != nil {
		return err
	}
	defer d.Release()
	twice := d.(*compute.ArrayDatum).MakeArray().(*array.Float64)
	defer twice.Release()
	once, last := b.Column(1).(*array.Float64), twice.Len()-1
	if twice.Value(last) != 2*once.Value(last) {
		return wrong(twice.Value(last), 2*once.Value(last))
	}
	return nil
}

func (j *job) roundTrip(alloc arrowmemory.Allocator, b arrow.RecordBatch) error {
	written := j.buffer()
	defer j.done(written)
	w, err := pqarrow.NewFileWriter(schema, written, parquet.NewWriterProperties(parquet.WithAllocator(alloc)),
		pqarrow.NewArrowWriterProperties(pqarrow.WithAllocator(alloc)))
	if err != nil {
		return err
	}
	if err := errors.Join(w.Write(b), w.Close()); err != nil {
		return err
	}
	return readBack(alloc, written.Bytes(), b)
}

func readBack(alloc arrowmemory.Allocator, text []byte, want arrow.RecordBatch) (err error) {
	r, err := file.NewParquetReader(bytes.NewReader(text), file.WithReadProps(parquet.NewReaderProperties(alloc)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	f, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{}, alloc)
	if err != nil {
		return err
	}
	table, err := f.ReadTable(context.Background())
	if err != nil {
		return err
	}
	defer table.Release()
	return same(table, want)
}

// same compares the columns, each of which was written as one chunk.
func same(got arrow.Table, want arrow.RecordBatch) error {
	for i := range int(want.NumCols()) {
		chunks := got.Column(i).Data()
		column := arrow.NewChunked(want.Column(i).DataType(), []arrow.Array{want.Column(i)})
		equal := array.ChunkedEqual(chunks, column)
		column.Release()
		if !equal {
			return wrong("another column", want.ColumnName(i))
		}
	}
	return nil
}
