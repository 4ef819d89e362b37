package transport

import (
	"context"
	"crypto/tls"
	"time"
)

// Config is what both sides of a transport may be told. The zero Config listens on and reaches this machine, and reaches
// whatever else can be dialled. A Config is not changed by those who are given it.
//
// An address that other machines can reach is only listened on with Keyed, or where TLS demands certificates from
// clients: ClientAuth is tls.RequireAndVerifyClientCert and ClientCAs is set.
type Config struct {
	// Keyed says that every connection will have to prove knowledge of the cluster key before it is served. The proof
	// itself is part of the link's handshake; the transport never sees the key.
	Keyed bool

	// Secret is derived from the cluster key by the owner, for brokers that the transport itself starts; nil without. The
	// same key must give the same Secret, from which the key cannot be had.
	Secret []byte

	// TLS is for transports that encrypt, such as tls://. Listening needs a certificate in it; dialling without it trusts
	// the authorities of the system. Transports that cannot encrypt refuse to leave the machine with it, rather than drop
	// it silently.
	TLS *tls.Config

	// Advertise is the host, or host:port, that others dial, where it is not the one that is listened on: in a container
	// or behind an address translation. It changes Listener.Addr and nothing else. An IPv6 address without a port needs
	// no brackets.
	Advertise string

	// Name is this side's name for transports that have no addresses of their own, such as mem://, where tests cut the
	// path between two names.
	Name string

	// DialTimeout bounds Dial, handshakes of the transport included. 0 is 5 seconds; negative is no bound but ctx.
	DialTimeout time.Duration

	// KeepAlive is how long a silent connection waits before the kernel asks whether the peer's machine is still there.
	// It asks three times, a third of KeepAlive apart, and then gives up. 0 is 15 seconds; negative never asks.
	KeepAlive time.Duration

	// ReadBuffer and WriteBuffer ask for that many bytes of buffer on each connection, where the transport has buffers
	// to size. 0 leaves it to the system, which grows them by need.
	ReadBuffer, WriteBuffer int
}

const (
	defaultDialTimeout = 5 * time.Second
	defaultKeepAlive   = 15 * time.Second
)

// DialLimit is how long a Dial may take: DialTimeout with its default filled in, 0 for no bound. It is for drivers.
func (c Config) DialLimit() time.Duration {
	if c.DialTimeout == 0 {
		return defaultDialTimeout
	}
	return max(0, c.DialTimeout)
}

// WithDialLimit is a ctx that ends after DialLimit at the latest. The caller must cancel it. It is for drivers.
func (c Config) WithDialLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	if limit := c.DialLimit(); limit > 0 {
		return context.WithTimeout(ctx, limit)
	}
	return context.WithCancel(ctx)
}

// KeepAliveIdle is KeepAlive with its default filled in, 0 for never. It is for drivers.
func (c Config) KeepAliveIdle() time.Duration {
	if c.KeepAlive == 0 {
		return defaultKeepAlive
	}
	return max(0, c.KeepAlive)
}

// demandsCertificates tells whether every client must show a certificate of an authority named for that: without
// ClientCAs any certificate bought anywhere would do.
func demandsCertificates(config *tls.Config) bool {
	return config != nil && config.ClientAuth == tls.RequireAndVerifyClientCert && config.ClientCAs != nil
}
