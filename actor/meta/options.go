package meta

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"github.com/sabir-go/sabir/transport"
)

// NetOption is an option of ListenTCP, DialTCP and ListenUDP.
type NetOption func(*netOptions)

type netOptions struct {
	tls         *tls.Config
	exposed     bool
	connections int
	window      int
	readSize    int
	idle        time.Duration
	write       time.Duration
}

// The defaults of the options.
const (
	defaultConnections  = 10_000
	defaultReadSize     = 16 << 10
	defaultWriteTimeout = 30 * time.Second
	handshakeTimeout    = 10 * time.Second
	dialTimeout         = 30 * time.Second
	maxPacket           = 64 << 10 // of UDP
)

func netOptionsOf(options []NetOption) netOptions {
	o := netOptions{connections: defaultConnections, window: defaultWindow, readSize: defaultReadSize, write: defaultWriteTimeout}
	for _, option := range options {
		option(&o)
	}
	return o
}

func (o *netOptions) check() error {
	if o.connections < 1 || o.window < 1 || o.readSize < 1 || o.write <= 0 || o.idle < 0 {
		return fmt.Errorf("meta: Connections(%d), Window(%d), ReadSize(%d) and WriteTimeout(%s) must be positive, IdleTimeout(%s) not negative",
			o.connections, o.window, o.readSize, o.write, o.idle)
	}
	return nil
}

// TLS makes connections encrypted. A listener needs certificates in it; one with TLS may listen beyond this machine.
func TLS(config *tls.Config) NetOption { return func(o *netOptions) { o.tls = config } }

// Exposed lets other machines connect without TLS.
func Exposed() NetOption { return func(o *netOptions) { o.exposed = true } }

// Connections bounds how many connections a listener has at once; one more waits to be accepted. Default: 10,000.
func Connections(n int) NetOption { return func(o *netOptions) { o.connections = n } }

// Window bounds the messages that wait for a process before reading for it stops. Default: 256.
func Window(messages int) NetOption { return func(o *netOptions) { o.window = messages } }

// ReadSize bounds the bytes of a Data. Default: 16 KiB.
func ReadSize(bytes int) NetOption { return func(o *netOptions) { o.readSize = bytes } }

// IdleTimeout ends connections over which nothing came for so long. By default they may be idle for ever.
func IdleTimeout(d time.Duration) NetOption { return func(o *netOptions) { o.idle = d } }

// WriteTimeout bounds how long a Write waits for a peer that does not read. Default: 30 s.
func WriteTimeout(d time.Duration) NetOption { return func(o *netOptions) { o.write = d } }

// listenAddr is the address to listen on. An address that other machines reach needs TLS with certificates, or Exposed.
func (o *netOptions) listenAddr(ctx context.Context, network, address string) (netip.AddrPort, error) {
	bound, err := transport.ListenAddr(ctx, &url.URL{Scheme: network, Host: address}, transport.Config{Keyed: true})
	if err != nil {
		return bound, fmt.Errorf("meta: %w", err)
	}
	secured := network == "tcp" && o.tls != nil
	if !bound.Addr().IsLoopback() && !secured && !o.exposed {
		return bound, fmt.Errorf("meta: refusing to listen on %s, where other machines could connect: leave out the host, use meta.TLS (for TCP), or say that it is meant by meta.Exposed()", bound)
	}
	return bound, nil
}
