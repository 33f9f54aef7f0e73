package compat

import (
	"bytes"
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/bufslab/bufslab/adapt"
	"github.com/bufslab/bufslab/slab"
	"google.golang.org/grpc"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const echoBytes = 33 << 10

// echo is a service that answers with what it is sent.
var echo = grpc.ServiceDesc{
	ServiceName: "compat.Echo",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{
		MethodName: "Echo",
		Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			m := new(wrapperspb.BytesValue)
			return m, decode(m)
		},
	}},
}

// An echoer calls a server whose buffers come from a pool.
type echoer struct {
	pool    mem.BufferPool
	client  *grpc.ClientConn
	request *wrapperspb.BytesValue

	time  time.Duration
	bytes uint64 // that were allocated
}

func newEchoer(t testing.TB, pool mem.BufferPool) (e *echoer, stop func()) {
	e = &echoer{pool: pool, request: wrapperspb.Bytes(bytes.Repeat([]byte("echo"), echoBytes/4))}
	e.client, stop = connect(t, pool, func(s *grpc.Server) { s.RegisterService(&echo, nil) })
	return e, stop
}

// calls makes some calls, with the codec's buffers from the pool, too.
func (e *echoer) calls(t testing.TB, n int) {
	experimental.SetDefaultBufferPool(e.pool)
	answer := new(wrapperspb.BytesValue)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	for range n {
		if err := e.client.Invoke(t.Context(), "/compat.Echo/Echo", e.request, answer); err != nil {
			t.Fatal(err)
		}
	}
	e.time += time.Since(begin)
	runtime.ReadMemStats(&after)
	e.bytes += after.TotalAlloc - before.TotalAlloc
	if !bytes.Equal(answer.Value, e.request.Value) {
		t.Fatal("the answer is another")
	}
}

// Messages come back as they were sent, and their buffers to the pool.
func TestEcho(t *testing.T) {
	defer experimental.SetDefaultBufferPool(mem.DefaultBufferPool())
	for _, line := range lines {
		p := slab.MustOpen(line)
		e, stop := newEchoer(t, adapt.GRPC(p))
		e.calls(t, 200)
		stop()
		eventually(t, "the last buffer comes back", func() bool { return p.Stats().ActiveBlocks == 0 })
		even(t, p)
	}
}

// BenchmarkEcho makes calls with gRPC's default pool and with ours, in turns of 50.
func BenchmarkEcho(b *testing.B) {
	standard := mem.DefaultBufferPool()
	defer experimental.SetDefaultBufferPool(standard)
	names := []string{"grpc", "heap", "mmap"}
	var all []*echoer
	for _, pool := range []mem.BufferPool{standard, adapt.GRPC(slab.MustOpen("")), adapt.GRPC(slab.MustOpen("device=mmap"))} {
		e, stop := newEchoer(b, pool)
		defer stop()
		e.calls(b, 50)
		e.time, e.bytes = 0, 0
		all = append(all, e)
	}
	calls := 0
	for b.Loop() {
		for _, e := range all {
			e.calls(b, 50)
		}
		calls += 50
	}
	b.ReportMetric(0, "ns/op")
	for i, e := range all {
		b.ReportMetric(float64(calls)*2*echoBytes/1e6/e.time.Seconds(), names[i]+"-MB/s")
		b.ReportMetric(float64(e.bytes)/float64(calls), names[i]+"-B/call")
	}
}
