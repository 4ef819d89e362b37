package grpc

import (
	"fmt"
	"net/url"

	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
	_ "github.com/sabir-go/sabir/transport/tcp" // whose sockets this runs over
)

func init() {
	transport.Register("grpc", driver{})
	transport.Register("grpc+tls", driver{encrypted: true})
}

const (
	service = "sabir.Link"
	method  = "Connect"

	// window is the number of bytes that the peer sends ahead of reads.
	window = 1 << 20
	// bufferSize is the size of gRPC's buffers before the socket: a write or a read of that size is one system call.
	bufferSize = 64 << 10
)

// driver is grpc:// or grpc+tls://.
type driver struct{ encrypted bool }

// socket is the transport that this one runs over, with its address and configuration.
func (d driver) socket(u *url.URL, config transport.Config) (transport.Stream, *url.URL, transport.Config, error) {
	scheme := "tcp"
	if d.encrypted {
		scheme = "tls"
		config.TLS = withH2(config.TLS)
	} else if err := config.CheckPlain(u, "grpc+tls"); err != nil {
		return nil, nil, config, err
	}
	lower, ok := transports.Stream(scheme)
	if !ok {
		return nil, nil, config, fmt.Errorf("the transport %s:// is not registered", scheme)
	}
	socket := *u
	socket.Scheme = scheme
	return lower, &socket, config, nil
}
