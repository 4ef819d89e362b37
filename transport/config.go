package transport

import (
	"context"
	"crypto/tls"
	"net/netip"
	"time"

	"github.com/sabir-go/sabir/secret"
)

// Config configures both sides of a transport. The zero Config listens on and reaches this machine, and reaches
// whatever else can be dialled. A Config is not changed by the functions that take it.
//
// An address that other machines can reach is only listened on with Keyed, or where TLS demands certificates from
// clients: ClientAuth is tls.RequireAndVerifyClientCert and ClientCAs is set.
type Config struct {
	// Keyed means that every connection will have to prove knowledge of the cluster key before it is served. The proof
	// itself is part of the link's handshake; the transport never sees the key.
	Keyed bool

	// Secret is derived from the cluster key by the owner, for brokers that the transport itself starts; none without. The
	// same key must give the same Secret, from which the key cannot be had.
	Secret secret.Secret

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

	// Resolved is the address that Dial connects to where the host of the URL is a name that has several. Certificates and
	// headers still go by the name. The zero Addr leaves it to the resolver, which returns the first one that answers.
	Resolved netip.Addr

	// DialTimeout bounds Dial, handshakes of the transport included. 0 is 5 seconds; negative is no bound but ctx.
	DialTimeout time.Duration

	// KeepAlive is the time that a silent connection waits before the kernel asks whether the peer's machine is still there.
	// It asks three times, a third of KeepAlive apart, and then closes the connection. 0 is 15 seconds; negative never asks.
	KeepAlive time.Duration

	// ReadBuffer and WriteBuffer ask for that many bytes of buffer on each connection, where the transport has buffers
	// to size. 0 leaves it to the system, which grows them by need.
	ReadBuffer, WriteBuffer int
	// PacketSize is the maximum size in bytes of a UDP packet of quic, kcp and utp; TCP beyond loopback is held to packets of
	// the same size on Linux. 0 is 1,200, which every path carries that QUIC can use (RFC 9000, section 14), and the least.
	// It does not change while a connection stands. With a larger one fewer packets carry the same bytes, but each path that
	// connections ever take must carry it: packets that are too large are lost, often silently, and the connection with them.
	// quic takes at most 1,452, kcp 1,500 and utp 1,438 bytes. The MTU of a network less 28 (IPv4) or 48 (IPv6) uses all of it.
	PacketSize int
}

const (
	defaultDialTimeout = 5 * time.Second
	defaultKeepAlive   = 15 * time.Second
)

// DialLimit is the time that a Dial may take: DialTimeout with its default filled in, 0 for no bound. It is for drivers.
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

// demandsCertificates reports whether every client must show a certificate of an authority named for that: without
// ClientCAs any certificate bought anywhere would do.
func demandsCertificates(config *tls.Config) bool {
	return config != nil && config.ClientAuth == tls.RequireAndVerifyClientCert && config.ClientCAs != nil
}
