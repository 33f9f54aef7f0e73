package growpool_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

// Each request of a key with bytes is told once, hits too, and what is told can be written as a keyed trace and replayed.
func TestRequested(t *testing.T) {
	var b bytes.Buffer
	w := trace.NewWriter(&b, "key")
	below := slab.MustOpen("device=heap")
	p := growpool.New[string](below, growpool.Config{Requested: func(key any, n int) {
		check.Must(t, w.Write(trace.Op{Kind: trace.Get, Key: fmt.Sprint(key), Size: n}))
	}})
	for range 2 {
		check.Ok(growpool.Get[int32](p, "a", 10))(t)
		check.Ok(growpool.Get[byte](p, "b", 3, 4))(t)
		check.Must(t, check.Ok(growpool.Acquire[float64](context.Background(), p, "c", 5))(t).Release())
	}
	check.Ok(growpool.Get[byte](p, "a", 1))(t)
	check.Ok(growpool.Get[byte](p, "a", 0))(t) // no bytes
	check.Wraps(t, check.Err(growpool.Get[byte](p, "a", -1)), growpool.ErrShape)
	check.Wraps(t, check.Err(growpool.Get[byte](p, "a")), growpool.ErrShape)
	check.Wraps(t, check.Err(growpool.Get[struct{}](p, "a", 1)), growpool.ErrElement)
	check.Must(t, w.Close())
	tr := check.Ok(trace.Read(&b, "keys.csv"))(t)
	var sizes []int
	for _, n := range tr.Requests() {
		sizes = append(sizes, n)
	}
	if !slices.Equal(sizes, []int{40, 12, 40, 40, 12, 40, 1}) || !slices.Equal(tr.Keys(), []string{"a", "b", "c"}) {
		t.Errorf("%v of %v", sizes, tr.Keys())
	}
	check.Must(t, p.Close())
}

// A growpool on a pool that records is in its recording: what a key needs is got, and grows.
func TestAGrowpoolIsRecorded(t *testing.T) {
	below := slab.MustOpen("device=mmap,record_last=100")
	p := growpool.New[string](below, growpool.Config{})
	for _, n := range []int{1000, 9000, 500} {
		check.Must(t, check.Ok(growpool.Acquire[byte](context.Background(), p, "a", n))(t).Release())
	}
	check.Must(t, p.Close())
	var b bytes.Buffer
	check.Must(t, below.WriteRecord(&b))
	tr := check.Ok(trace.Read(&b, "t.csv"))(t)
	if tr.Allocs+tr.Grows != 2 || tr.LiveBytes != 0 || tr.PeakLiveBytes < 9000 {
		t.Errorf("%+v", tr)
	}
	check.Must(t, below.Close())
}
