package main

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// A result is how many orders were worth it, and what they were worth by country.
type result struct {
	kept  int
	worth [len(countries)]float64
}

var schema = arrow.NewSchema([]arrow.Field{
	{Name: "country", Type: arrow.BinaryTypes.String},
	{Name: "count", Type: arrow.PrimitiveTypes.Float64},
	{Name: "price", Type: arrow.PrimitiveTypes.Float64},
}, nil)

// least is what an order is worth that counts.
const least = 500.0

var countries = [...]string{"at", "br", "ch", "de", "fr", "in", "jp", "ke", "nz", "us"}

// orders adds up batch by batch. They are the same each time.
func orders(mem memory.Allocator, batches, rows int) (result, error) {
	ctx := compute.WithAllocator(context.Background(), mem)
	var res result
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	r := rand.New(rand.NewPCG(5, 6))
	for range batches {
		if err := res.add(ctx, b, r, rows); err != nil {
			return res, err
		}
	}
	return res, nil
}

// add builds a batch and adds it up. What it makes it releases.
func (res *result) add(ctx context.Context, b *array.RecordBuilder, r *rand.Rand, rows int) error {
	for range rows {
		b.Field(0).(*array.StringBuilder).Append(countries[r.IntN(len(countries))])
		b.Field(1).(*array.Float64Builder).Append(float64(1 + r.IntN(40)))
		b.Field(2).(*array.Float64Builder).Append(30 * r.ExpFloat64())
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	value, err := compute.Multiply(ctx, compute.ArithmeticOptions{},
		compute.NewDatumWithoutOwning(batch.Column(1)), compute.NewDatumWithoutOwning(batch.Column(2)))
	if err != nil {
		return err
	}
	defer value.Release()
	worth, err := compute.CallFunction(ctx, "greater", nil, value, compute.NewDatum(least))
	if err != nil {
		return err
	}
	defer worth.Release()
	values, mask := value.(*compute.ArrayDatum).MakeArray(), worth.(*compute.ArrayDatum).MakeArray()
	defer values.Release()
	defer mask.Release()
	kept, err := compute.FilterArray(ctx, values, mask, *compute.DefaultFilterOptions())
	if err != nil {
		return err
	}
	defer kept.Release()
	where, err := compute.FilterArray(ctx, batch.Column(0), mask, *compute.DefaultFilterOptions())
	if err != nil {
		return err
	}
	defer where.Release()
	for i, v := range kept.(*array.Float64).Float64Values() {
		// The name lies in Arrow's memory, which is released soon: what is kept is a number.
		res.worth[slices.Index(countries[:], where.(*array.String).Value(i))] += v
	}
	res.kept += kept.Len()
	return nil
}
