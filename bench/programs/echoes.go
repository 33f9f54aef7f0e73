package main

import (
	"context"
	"errors"
	"io"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/mem"
)

// A frame is a message: what is to be sent, or the buffers that it has come in.
type frame struct {
	bytes []byte
	came  mem.BufferSlice
}

// frames is gRPC's codec of them. What has come is not copied, and can be sent on.
type frames struct{ pool mem.BufferPool }

func (frames) Name() string { return "frames" }

func (f frames) Marshal(v any) (mem.BufferSlice, error) {
	m := v.(*frame)
	if m.came != nil {
		return m.came, nil // gRPC frees it when it is sent
	}
	b := f.pool.Get(len(m.bytes))
	copy(*b, m.bytes)
	return mem.BufferSlice{mem.NewBuffer(b, f.pool)}, nil
}

func (frames) Unmarshal(data mem.BufferSlice, v any) error {
	data.Ref()
	v.(*frame).came = data
	return nil
}

// echoed is the stream of the service.
var echoed = grpc.StreamDesc{StreamName: "Echo", ServerStreams: true, ClientStreams: true, Handler: echo}

func echo(_ any, s grpc.ServerStream) error {
	for {
		var m frame
		if err := s.RecvMsg(&m); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := s.SendMsg(&m); err != nil {
			return err
		}
	}
}

// echoes sends messages of 2 to 512 KiB over four streams, and looks at what comes back.
func echoes(j *job) error {
	pool := j.grpc()
	codec := frames{pool}
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := grpc.NewServer(experimental.BufferPool(pool), grpc.ForceServerCodecV2(codec))
	s.RegisterService(&grpc.ServiceDesc{ServiceName: "programs", HandlerType: (*any)(nil),
		Streams: []grpc.StreamDesc{echoed}}, nil)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(at) }()
	conn, err := grpc.NewClient(at.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		experimental.WithBufferPool(pool), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(codec)))
	if err == nil {
		err = errors.Join(j.clients(4, func(c *client) (op, end func() error, err error) { return echoing(c, conn) }),
			conn.Close())
	}
	s.GracefulStop() // returns when all connections are closed
	return errors.Join(err, <-ended)
}

// echoing opens a stream. Its end is not a cancelled call: those forget a buffer now and then,
// whatever the pool, and here nothing is tolerated.
func echoing(c *client, conn *grpc.ClientConn) (op, end func() error, err error) {
	s, err := conn.NewStream(context.Background(), &echoed, "/programs/Echo")
	if err != nil {
		return nil, nil, err
	}
	return func() error { return exchange(s, some(noise(), c.Rand, between(c.Rand, 2<<10, 512<<10))) },
		func() error { return finish(s) }, nil
}

func exchange(s grpc.ClientStream, message []byte) error {
	if err := s.SendMsg(&frame{bytes: message}); err != nil {
		return err
	}
	var back frame
	if err := s.RecvMsg(&back); err != nil {
		return err
	}
	defer back.came.Free()
	at := 0
	for _, b := range back.came {
		part := b.ReadOnlyData()
		if at+len(part) > len(message) || string(part) != string(message[at:at+len(part)]) {
			return wrong("another message", "an echo")
		}
		at += len(part)
	}
	if at != len(message) {
		return wrong(at, len(message))
	}
	return nil
}

func finish(s grpc.ClientStream) error {
	if err := s.CloseSend(); err != nil {
		return err
	}
	if err := s.RecvMsg(new(frame)); err != io.EOF {
		return wrong(err, io.EOF)
	}
	return nil
}
