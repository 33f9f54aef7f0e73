package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/csv"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// work is the program that is recorded: it reads the same CSV in small, middle
// and large batches.
func work(ctx context.Context, mem memory.Allocator, out io.Writer) error {
	for _, batchRows := range []int{400, 1500, 6000} {
		if err := pass(ctx, mem, batchRows, out); err != nil {
			return err
		}
	}
	return nil
}

// pass derives, batch by batch, a column, drops rows, sorts what is left and
// adds it up, and it writes the batches to an Arrow file and, together, to Parquet.
func pass(ctx context.Context, mem memory.Allocator, batchRows int, out io.Writer) error {
	in := csv.NewReader(newTable(rows), schema, csv.WithAllocator(mem), csv.WithChunk(batchRows), csv.WithHeader(true))
	defer in.Release()
	var kept []arrow.RecordBatch
	defer func() {
		for _, b := range kept {
			b.Release()
		}
	}()
	totals := map[string]float64{}
	var counted counter
	file, err := ipc.NewFileWriter(&counted, ipc.WithSchema(derived), ipc.WithAllocator(mem))
	if err != nil {
		return err
	}
	for in.Next() {
		b, err := step(ctx, in.RecordBatch())
		if err != nil {
			return err
		}
		kept = append(kept, b)
		if err := file.Write(b); err != nil {
			return err
		}
		if err := add(ctx, b, totals); err != nil {
			return err
		}
	}
	if err := errors.Join(in.Err(), file.Close()); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d batches, %d bytes of Arrow, %d countries\n", len(kept), counted, len(totals))
	return writeParquet(ctx, mem, kept, out)
}

// step derives a column from two, keeps the rows that are worth something
// and sorts them by it.
func step(ctx context.Context, b arrow.RecordBatch) (arrow.RecordBatch, error) {
	price, err := compute.CastToType(ctx, b.Column(3), arrow.PrimitiveTypes.Float64)
	if err != nil {
		return nil, err
	}
	defer price.Release()
	count, err := compute.CastToType(ctx, b.Column(2), arrow.PrimitiveTypes.Float64)
	if err != nil {
		return nil, err
	}
	defer count.Release()
	value, err := compute.Multiply(ctx, compute.ArithmeticOptions{}, &compute.ArrayDatum{Value: price.Data()},
		&compute.ArrayDatum{Value: count.Data()})
	if err != nil {
		return nil, err
	}
	defer value.Release()
	worth, err := compute.CallFunction(ctx, "greater", nil, value, compute.NewDatum(250.0))
	if err != nil {
		return nil, err
	}
	defer worth.Release()
	valueArray, worthArray := value.(*compute.ArrayDatum).MakeArray(), worth.(*compute.ArrayDatum).MakeArray()
	defer valueArray.Release()
	defer worthArray.Release()
	wide := array.NewRecordBatch(derived, append(append([]arrow.Array{}, b.Columns()...), valueArray), b.NumRows())
	defer wide.Release()
	few, err := compute.FilterRecordBatch(ctx, wide, worthArray, compute.DefaultFilterOptions())
	if err != nil {
		return nil, err
	}
	defer few.Release()
	return sorted(ctx, few)
}

// sorted orders a batch by its last column. It finds the order itself, as the
// indices of compute's own sort are one of the few things that it leaves to
// the garbage collector instead of freeing them.
func sorted(ctx context.Context, b arrow.RecordBatch) (arrow.RecordBatch, error) {
	value := b.Column(int(b.NumCols()) - 1).(*array.Float64).Float64Values()
	order := make([]int64, len(value))
	for i := range order {
		order[i] = int64(i)
	}
	slices.SortStableFunc(order, func(i, j int64) int { return cmp.Compare(value[i], value[j]) })

	indices := array.NewInt64Builder(compute.GetAllocator(ctx))
	defer indices.Release()
	indices.AppendValues(order, nil)
	taken := indices.NewArray()
	defer taken.Release()
	out, err := compute.Take(ctx, *compute.DefaultTakeOptions(), compute.NewDatumWithoutOwning(b),
		compute.NewDatumWithoutOwning(taken))
	if err != nil {
		return nil, err
	}
	return out.(*compute.RecordDatum).Value, nil
}

// add sums the value of a batch by country, each country through a filter.
func add(ctx context.Context, b arrow.RecordBatch, totals map[string]float64) error {
	country, value := b.Column(1), b.Column(int(b.NumCols())-1)
	seen := map[string]bool{"": true}
	for i := range country.Len() {
		name := country.(*array.String).Value(i)
		if seen[name] {
			continue
		}
		seen[name] = true
		n, err := sumWhere(ctx, country, name, value)
		if err != nil {
			return err
		}
		totals[name] += n
	}
	return nil
}

func sumWhere(ctx context.Context, country arrow.Array, name string, value arrow.Array) (float64, error) {
	same, err := compute.CallFunction(ctx, "equal", nil, &compute.ArrayDatum{Value: country.Data()},
		compute.NewDatum(name))
	if err != nil {
		return 0, err
	}
	defer same.Release()
	mask := same.(*compute.ArrayDatum).MakeArray()
	defer mask.Release()
	of, err := compute.FilterArray(ctx, value, mask, *compute.DefaultFilterOptions())
	if err != nil {
		return 0, err
	}
	defer of.Release()
	sum := 0.0
	for _, v := range of.(*array.Float64).Float64Values() {
		sum += v
	}
	return sum, nil
}

func writeParquet(ctx context.Context, mem memory.Allocator, batches []arrow.RecordBatch, out io.Writer) error {
	var counted counter
	w, err := pqarrow.NewFileWriter(derived, &counted, parquet.NewWriterProperties(parquet.WithAllocator(mem)),
		pqarrow.NewArrowWriterProperties(pqarrow.WithAllocator(mem)))
	if err != nil {
		return err
	}
	for _, b := range batches {
		if err := w.WriteBuffered(b); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d bytes of Parquet\n", counted)
	return nil
}

// A counter is a file of which only the size matters.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
