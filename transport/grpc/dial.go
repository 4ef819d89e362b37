package grpc

import (
	"context"
	"fmt"
	"net"
	"net/url"

	"google.golang.org/grpc"

	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

func (d driver) Dial(ctx context.Context, to *url.URL, config transport.Config) (net.Conn, error) {
	lower, socket, config, err := d.socket(to, config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := config.WithDialLimit(ctx)
	defer cancel()
	raw, err := lower.Dial(ctx, socket, config)
	if err != nil {
		return nil, fmt.Errorf("the address %q: %w", to.Redacted(), err)
	}
	conn, err := d.open(ctx, raw, to.Host)
	if err != nil {
		transports.Abort(raw)
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("gRPC with %s (%s): %w", to.Redacted(), raw.RemoteAddr(), err)
	}
	return conn, nil
}

// open opens the stream, and waits for the answer's header.
func (d driver) open(ctx context.Context, raw net.Conn, host string) (net.Conn, error) {
	once := make(chan net.Conn, 1)
	once <- raw
	client, err := grpc.NewClient("passthrough:///"+host,
		grpc.WithAuthority(host),
		grpc.WithTransportCredentials(below(d)),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			select {
			case raw := <-once:
				return raw, nil
			default:
				return nil, net.ErrClosed
			}
		}),
		grpc.WithNoProxy(),
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
		grpc.WithUserAgent("sabir"),
		grpc.WithStaticStreamWindowSize(window),
		grpc.WithStaticConnWindowSize(window),
		grpc.WithReadBufferSize(bufferSize),
		grpc.WithWriteBufferSize(bufferSize),
		grpc.WithMaxHeaderListSize(headerSize),
	)
	if err != nil {
		return nil, err
	}
	streaming, cancel := context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, func() {
		transports.Abort(raw)
		cancel()
	})
	defer stop()
	s, err := connect(streaming, client)
	if err != nil {
		cancel()
		client.Close()
		return nil, err
	}
	c := &dialled{carrier: carrier{stream: s}, out: s, client: client, cancel: cancel, ended: make(chan struct{})}
	return transports.Carry(c, raw), nil
}

func connect(ctx context.Context, client *grpc.ClientConn) (grpc.ClientStream, error) {
	s, err := client.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/"+service+"/"+method,
		grpc.ForceCodecV2(codec{}), grpc.MaxCallRecvMsgSize(largestReceived))
	if err != nil {
		return nil, err
	}
	header, err := s.Header()
	if err != nil {
		return nil, err
	}
	if len(header.Get(headerKey)) > 0 {
		return s, nil
	}
	var m message
	if err := s.RecvMsg(&m); err != nil {
		return nil, err // what is there instead answers that: such as an unknown service
	}
	m.data.Free()
	return nil, fmt.Errorf("the answer has no %s header: no Sabir node listens there", headerKey)
}

// dialled is the carrier of the side that opened the stream.
type dialled struct {
	carrier
	out    grpc.ClientStream
	client *grpc.ClientConn
	cancel context.CancelFunc
	ended  chan struct{} // closed when reads have ended
}

func (d *dialled) Read(p []byte) (int, error) {
	n, err := d.carrier.Read(p)
	if err != nil {
		close(d.ended)
	}
	return n, err
}

func (d *dialled) Finish() {
	d.out.CloseSend() // the peer's handler then returns
	<-d.ended
	d.free()
	d.cancel()
	d.client.Close()
}
