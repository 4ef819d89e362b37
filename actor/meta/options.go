package meta

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"github.com/sabir-go/sabir/transport"
)

// NetConfig holds the settings of ListenTCP, DialTCP and ListenUDP. The zero NetConfig is fit for use.
type NetConfig struct {
	// TLS makes connections encrypted. A listener needs certificates in it; one with TLS may listen beyond this machine.
	TLS *tls.Config
	// Exposed lets other machines connect without TLS.
	Exposed bool
	// Connections bounds how many connections a listener has at once; one more waits to be accepted. Default: 10,000.
	Connections int
	// Window bounds the messages that wait for a process before reading for it stops. Default: 256.
	Window int
	// ReadSize bounds the bytes of a Data. Default: 16 KiB.
	ReadSize int
	// IdleTimeout ends connections over which nothing came for so long. By default they may be idle for ever.
	IdleTimeout time.Duration
	// WriteTimeout bounds how long a Write waits for a peer that does not read. Default: 30 s.
	WriteTimeout time.Duration
}

// The defaults of NetConfig, and what it does not set.
const (
	defaultConnections  = 10_000
	defaultReadSize     = 16 << 10
	defaultWriteTimeout = 30 * time.Second
	handshakeTimeout    = 10 * time.Second
	dialTimeout         = 30 * time.Second
	maxPacket           = 64 << 10 // of UDP
)

func (c *NetConfig) complete() error {
	if c.Connections < 0 || c.Window < 0 || c.ReadSize < 0 || c.IdleTimeout < 0 || c.WriteTimeout < 0 {
		return fmt.Errorf("meta: none of Connections (%d), Window (%d), ReadSize (%d), IdleTimeout (%s) and WriteTimeout (%s) may be negative",
			c.Connections, c.Window, c.ReadSize, c.IdleTimeout, c.WriteTimeout)
	}
	c.Connections, c.Window = cmp.Or(c.Connections, defaultConnections), cmp.Or(c.Window, defaultWindow)
	c.ReadSize, c.WriteTimeout = cmp.Or(c.ReadSize, defaultReadSize), cmp.Or(c.WriteTimeout, defaultWriteTimeout)
	return nil
}

// listenAddr is the address to listen on. An address that other machines reach needs TLS with certificates, or Exposed.
func (c *NetConfig) listenAddr(ctx context.Context, network, address string) (netip.AddrPort, error) {
	bound, err := transport.Config{Keyed: true}.ListenAddr(ctx, &url.URL{Scheme: network, Host: address})
	if err != nil {
		return bound, fmt.Errorf("meta: %w", err)
	}
	secured := network == "tcp" && c.TLS != nil
	if !bound.Addr().IsLoopback() && !secured && !c.Exposed {
		return bound, fmt.Errorf("meta: refusing to listen on %s, where other machines could connect: leave out the host, set TLS of meta.NetConfig (for TCP), or say that it is meant by Exposed", bound)
	}
	return bound, nil
}
