package main

import (
	"context"
	"errors"
	"fmt"
	"net/http/httputil"
	"runtime"
	"time"

	arrow "github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/mem"

	"github.com/bufslab/bufslab/adapt"
	arenas "github.com/bufslab/bufslab/arena"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/iobuf"
	"github.com/bufslab/bufslab/slab"
)

// ours is a pool of this repository, used as its documentation says.
type ours struct {
	pool   *slab.Pool
	layers *growpool.Pool[int]
}

func (o *ours) get(n int) (block, error) { return known(o.pool.Get(n)) }

// known is a block by its handle.
func known(b slab.PooledBuffer, err error) (block, error) {
	if err != nil {
		return block{}, err
	}
	return block{bytes: b.Bytes(), ours: b}, nil
}

func (o *ours) put(b block) error                     { return b.ours.Release() }
func (o *ours) part(b block, i, j int) (block, error) { return known(b.ours.Slice(i, j)) }
func (o *ours) share(b block) (block, error)          { return known(b.ours.Share()) }

func (o *ours) floats(n int) (vector, error) {
	s, err := slab.Make[float64](o.pool, n)
	if err != nil {
		return vector{}, err
	}
	return vector{values: s.Slice(), ours: s}, nil
}

func (o *ours) putFloats(v vector) error { return v.ours.Release() }

func (o *ours) buffer() buffer { return iobuf.New(o.pool) }
func (o *ours) done(b buffer)  { b.(*iobuf.Buffer).Release() }

func (o *ours) canvas(layer, n int) (canvas, error) {
	l, err := growpool.Acquire[byte](context.Background(), o.layers, layer, n)
	if err != nil {
		return canvas{}, err
	}
	return canvas{layer: layer, pixels: l.Slice(), ours: l}, nil
}

func (o *ours) putCanvas(c canvas) error { return c.ours.Release() }

func (o *ours) arena() arena                       { return pieces{arenas.New(o.pool)} }
func (o *ours) arrow() arrow.Allocator             { return adapt.Arrow(o.pool) }
func (o *ours) grpc() mem.BufferPool               { return adapt.GRPC(o.pool) }
func (o *ours) proxy(size int) httputil.BufferPool { return adapt.HTTP(o.pool, size) }
func (o *ours) peaks() (managed, active int64) {
	s := o.pool.Stats()
	return s.PeakManagedBytes, s.PeakActiveBytes
}

// pieces is an Arena of ours.
type pieces struct{ a *arenas.Arena }

func (p pieces) points(n int) ([]point, error) { return arenas.Make[point](p.a, n) }
func (p pieces) reset()                        { p.a.Reset() }
func (p pieces) release()                      { p.a.Release() }

// close fails if a buffer is out, was found by the collector, or came back twice.
func (o *ours) close() error {
	err := o.layers.Close()
	o.settle()
	s := o.pool.Stats()
	if s.ActiveBlocks+s.Forgotten+s.DoubleReleases+s.ForeignPuts != 0 {
		err = errors.Join(err, fmt.Errorf("a leak: %d buffers are out, %d were forgotten, %d released twice, %d foreign ones put",
			s.ActiveBlocks, s.Forgotten, s.DoubleReleases, s.ForeignPuts))
	}
	return errors.Join(err, o.pool.Close())
}

// patience is for goroutines that were told to end, on a machine that does other things.
const patience = 5 * time.Second

// settle waits for the last buffer. Of all programs only gRPC needs that: its server and its
// client are stopped, but a transport's goroutines, which nobody can wait for, may be about
// to put what they have read into. A buffer that is really lost is counted as forgotten if
// the collector finds it meanwhile.
func (o *ours) settle() {
	for end := time.Now().Add(patience); o.pool.Stats().ActiveBlocks != 0 && time.Now().Before(end); {
		runtime.GC()
		runtime.Gosched()
	}
}
