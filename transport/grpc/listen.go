package grpc

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

const (
	handshakeTime = 5 * time.Second
	idleTime      = 5 * time.Second
	headerSize    = 16 << 10
	// headerKey is a key in the header of each answer of a node, by which a dialler recognizes it.
	headerKey = "sabir-link"
)

func (d driver) Listen(ctx context.Context, at *url.URL, config transport.Config) (transport.Listener, error) {
	lower, socket, config, err := d.socket(at, config)
	if err != nil {
		return nil, err
	}
	if d.encrypted {
		if _, err := transports.ServerTLS(config.TLS); err != nil {
			return nil, fmt.Errorf("the address %q: %w", at.Redacted(), err)
		}
	}
	sockets, err := lower.Listen(ctx, socket, config)
	if err != nil {
		return nil, fmt.Errorf("the address %q: %w", at.Redacted(), err)
	}
	addr, err := url.Parse(sockets.Addr())
	if err != nil {
		sockets.Close()
		return nil, err
	}
	addr.Scheme = at.Scheme
	l := &listener{transports.NewServed(sockets, addr.String()), d.server()}
	l.server.RegisterService(&grpc.ServiceDesc{
		ServiceName: service,
		HandlerType: (*any)(nil),
		Streams:     []grpc.StreamDesc{{StreamName: method, Handler: l.handle, ServerStreams: true, ClientStreams: true}},
	}, l)
	go l.server.Serve(l.Sockets())
	return l, nil
}

func (d driver) server() *grpc.Server {
	return grpc.NewServer(
		grpc.Creds(below(d)),
		grpc.ForceServerCodecV2(codec{}),
		grpc.MaxRecvMsgSize(largestReceived),
		grpc.StaticStreamWindowSize(window),
		grpc.StaticConnWindowSize(window),
		grpc.ReadBufferSize(bufferSize),
		grpc.WriteBufferSize(bufferSize),
		grpc.MaxConcurrentStreams(1),
		grpc.MaxHeaderListSize(headerSize),
		grpc.ConnectionTimeout(handshakeTime),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: idleTime}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
	)
}

// listener is a server whose streams are connections.
type listener struct {
	*transports.Served
	server *grpc.Server
}

// Close stops listening. The server itself ends with its last stream.
func (l *listener) Close() error {
	err := l.Served.Close()
	go l.server.GracefulStop()
	return err
}

func (l *listener) handle(_ any, s grpc.ServerStream) error {
	from, _ := peer.FromContext(s.Context())
	info, _ := from.AuthInfo.(socketInfo)
	if info.socket == nil {
		return status.Error(codes.Internal, "the socket of the stream is not known")
	}
	a := &accepted{carrier: carrier{stream: s}, socket: info.socket, done: make(chan struct{})}
	if err := s.SendHeader(metadata.Pairs(headerKey, "1")); err != nil {
		return err
	}
	conn := transports.Carry(a, info.socket)
	if !l.Deliver(conn, info.socket) {
		go conn.Close() // which waits for this handler
	}
	<-a.done
	return nil
}

// accepted is the carrier of the side whose handler runs.
type accepted struct {
	carrier
	socket *transports.Socket
	done   chan struct{} // closed when the handler may return
}

func (a *accepted) Finish() {
	close(a.done)
	<-a.socket.Gone() // the peer closes it when it has read all
}
