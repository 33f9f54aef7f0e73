package compat

import (
	"context"
	"net"
	"runtime"
	"testing"

	"github.com/bufslab/bufslab/adapt"
	"github.com/bufslab/bufslab/slab"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/interop"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/mem"
)

// interopCases are those of gRPC's interop client that need no credentials of a cloud, no
// second server and no time to soak. They end the process when they fail.
var interopCases = map[string]func(context.Context, *grpc.ClientConn){
	"empty_unary":                 call(interop.DoEmptyUnaryCall),
	"large_unary":                 call(interop.DoLargeUnaryCall),
	"client_streaming":            call(interop.DoClientStreaming),
	"server_streaming":            call(interop.DoServerStreaming),
	"ping_pong":                   call(interop.DoPingPong),
	"empty_stream":                call(interop.DoEmptyStream),
	"timeout_on_sleeping_server":  call(interop.DoTimeoutOnSleepingServer),
	"cancel_after_begin":          call(interop.DoCancelAfterBegin),
	"cancel_after_first_response": call(interop.DoCancelAfterFirstResponse),
	"status_code_and_message":     call(interop.DoStatusCodeAndMessage),
	"special_status_message":      call(interop.DoSpecialStatusMessage),
	"custom_metadata":             call(interop.DoCustomMetadata),
	"unimplemented_method":        interop.DoUnimplementedMethod,
	"unimplemented_service": func(ctx context.Context, c *grpc.ClientConn) {
		interop.DoUnimplementedService(ctx, testgrpc.NewUnimplementedServiceClient(c))
	},
}

func call(do func(context.Context, testgrpc.TestServiceClient, ...grpc.CallOption)) func(context.Context, *grpc.ClientConn) {
	return func(ctx context.Context, c *grpc.ClientConn) { do(ctx, testgrpc.NewTestServiceClient(c)) }
}

// connect starts a server whose buffers, and those of its client and of the codec, come from
// pool, and returns the client. The codec's pool is one of the process, so there is one
// server at a time that is in use. stop returns when all buffers should be back.
func connect(t testing.TB, pool mem.BufferPool, register func(*grpc.Server)) (c *grpc.ClientConn, stop func()) {
	t.Helper()
	experimental.SetDefaultBufferPool(pool)
	server := grpc.NewServer(experimental.BufferPool(pool))
	register(server)
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(at)
	c, err = grpc.NewClient(at.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()), experimental.WithBufferPool(pool))
	if err != nil {
		t.Fatal(err)
	}
	return c, func() {
		c.Close()
		server.GracefulStop()
	}
}

// forgets are the cases that end calls early. gRPC 1.85 now and then does not put back a
// buffer or two of such a call, whatever the pool.
var forgets = map[string]bool{"timeout_on_sleeping_server": true, "cancel_after_begin": true, "cancel_after_first_response": true}

// comesBack fails unless what was forgotten comes back, on the heap, or stays out, off it.
func comesBack(t *testing.T, p *slab.Pool) {
	t.Helper()
	if p.Device().Name() == "heap" {
		eventually(t, "a forgotten buffer comes back", func() bool {
			runtime.GC()
			return p.Stats().ActiveBlocks == 0
		})
	}
	s := p.Stats()
	t.Logf("gRPC forgot %d buffers", s.Forgotten+s.ActiveBlocks)
	if s.Forgotten+s.ActiveBlocks > 4 || s.ForeignPuts+s.DoubleReleases != 0 {
		t.Errorf("%+v", s)
	}
}

// Servers, clients and the codec of all cases give back what they get, but where gRPC does
// not.
func TestInterop(t *testing.T) {
	if len(interopCases) != 14 {
		t.Error(len(interopCases))
	}
	defer experimental.SetDefaultBufferPool(mem.DefaultBufferPool())
	for _, line := range lines {
		var got int64
		for name, do := range interopCases {
			t.Run(line+"/"+name, func(t *testing.T) {
				p := slab.MustOpen(line)
				g := adapt.GRPC(p)
				before := gets(p)
				c, stop := connect(t, g, func(s *grpc.Server) {
					testgrpc.RegisterTestServiceServer(s, interop.NewTestServer())
				})
				do(t.Context(), c)
				stop()
				if forgets[name] {
					comesBack(t, p)
				} else {
					eventually(t, "the last buffer comes back", func() bool { return p.Stats().ActiveBlocks == 0 })
					even(t, p)
				}
				if g.Made() != 0 {
					t.Errorf("%d made", g.Made())
				}
				got += gets(p) - before
			})
		}
		if got < 20 {
			t.Errorf("%s: gRPC got %d buffers", line, got)
		}
		t.Logf("%s: gRPC got %d buffers", line, got)
	}
}
