package h2

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/sabir-go/sabir/internal/httpstrict"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
	_ "github.com/sabir-go/sabir/transport/tcp" // whose sockets this runs over
)

func init() {
	transport.Register("grpc+tcp", driver{})
	transport.Register("h2c", driver{})
}

const (
	path        = "/sabir"
	contentType = "application/octet-stream"

	// window is the number of bytes that the peer sends ahead of reads.
	window = 1 << 20
	// frame is the longest frame that is read: one for each write of a link.
	frame = 256 << 10

	headerTime = 5 * time.Second
	idleTime   = 5 * time.Second
	headerSize = 16 << 10
)

// silent drops what net/http logs about clients of other protocols: any client can cause such lines.
var silent = log.New(io.Discard, "", 0)

type driver struct{}

// below is the address of the socket, for the transport tcp.
func below(u *url.URL) (transport.Stream, *url.URL, error) {
	tcp, ok := transports.Stream("tcp")
	if !ok {
		return nil, nil, errors.New("the transport tcp:// is not registered")
	}
	socket := *u
	socket.Scheme = "tcp"
	return tcp, &socket, nil
}

func (driver) Listen(ctx context.Context, at *url.URL, config transport.Config) (transport.Listener, error) {
	if err := config.CheckPlain(at, "grpc+tls", "https"); err != nil {
		return nil, err
	}
	tcp, socket, err := below(at)
	if err != nil {
		return nil, err
	}
	sockets, err := tcp.Listen(ctx, socket, config)
	if err != nil {
		return nil, fmt.Errorf("the address %q: %w", at.Redacted(), err)
	}
	addr, err := url.Parse(sockets.Addr())
	if err != nil {
		sockets.Close()
		return nil, err
	}
	addr.Scheme = at.Scheme
	served := transports.NewServed(sockets, addr.String())
	server := http.Server{
		Handler:           handler{served},
		Protocols:         onlyH2(),
		HTTP2:             settings(),
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerSize,
		ErrorLog:          silent,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, socketKey{}, conn.(*httpstrict.Conn).NetConn())
		},
	}
	go httpstrict.Serve(&server, served.Sockets())
	return served, nil
}

func onlyH2() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}

func settings() *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxConcurrentStreams:          1,
		MaxReadFrameSize:              frame,
		MaxReceiveBufferPerConnection: window,
		MaxReceiveBufferPerStream:     window,
	}
}

func (driver) Dial(ctx context.Context, to *url.URL, config transport.Config) (net.Conn, error) {
	if err := config.CheckPlain(to, "grpc+tls", "https"); err != nil {
		return nil, err
	}
	tcp, socket, err := below(to)
	if err != nil {
		return nil, err
	}
	ctx, cancel := config.WithDialLimit(ctx)
	defer cancel()
	raw, err := tcp.Dial(ctx, socket, config)
	if err != nil {
		return nil, fmt.Errorf("the address %q: %w", to.Redacted(), err)
	}
	conn, err := open(ctx, raw, to.Host)
	if err != nil {
		transports.Abort(raw)
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("HTTP/2 with %s (%s): %w", to.Redacted(), raw.RemoteAddr(), err)
	}
	return conn, nil
}

// open makes the request, and waits for the answer's header.
func open(ctx context.Context, raw net.Conn, host string) (net.Conn, error) {
	once := make(chan net.Conn, 1)
	once <- raw
	client := &http.Transport{
		Protocols: onlyH2(),
		HTTP2:     settings(),
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			select {
			case raw := <-once:
				return raw, nil
			default:
				return nil, net.ErrClosed
			}
		},
		MaxResponseHeaderBytes: headerSize,
		DisableCompression:     true,
	}
	stop := context.AfterFunc(ctx, func() { transports.Abort(raw) })
	defer stop()
	body, out := io.Pipe()
	request, err := http.NewRequest(http.MethodPost, "http://"+host+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("User-Agent", "sabir")
	response, err := client.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != contentType {
		response.Body.Close()
		return nil, fmt.Errorf("the answer is %s, of type %q: no Sabir node listens there, or a proxy answered in its place",
			response.Status, response.Header.Get("Content-Type"))
	}
	return transports.Carry(&dialled{in: response.Body, out: out, client: client, ended: make(chan struct{})}, raw), nil
}
