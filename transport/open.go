package transport

import (
	"context"
	"fmt"
	"net"
	"net/url"

	"github.com/sabir-go/sabir/internal/schemes"
)

// Listen starts to accept connections at an address such as "tcp://:7700", by the transport of its scheme. See
// [Stream.Listen] for what is refused.
func Listen(ctx context.Context, address string, config Config) (Listener, error) {
	at, s, err := open(address, config)
	if err != nil {
		return nil, err
	}
	return s.Listen(ctx, at, config)
}

// Dial connects to an address such as "unix:///run/shop.sock", by the transport of its scheme. See [Stream.Dial].
func Dial(ctx context.Context, address string, config Config) (net.Conn, error) {
	to, s, err := open(address, config)
	if err != nil {
		return nil, err
	}
	return s.Dial(ctx, to, config)
}

func open(address string, config Config) (*url.URL, Stream, error) {
	u, err := schemes.Parse(address)
	if err != nil {
		return nil, nil, err
	}
	t, _ := schemes.Transports.Lookup(u.Scheme)
	s, ok := t.Stream.(Stream)
	if !ok {
		return nil, nil, fmt.Errorf("the address %q: %w", u.Redacted(), missingDriver(u.Scheme))
	}
	if err := config.checkPacketSize(); err != nil {
		return nil, nil, fmt.Errorf("the address %q: %w", u.Redacted(), err)
	}
	return u, s, nil
}
