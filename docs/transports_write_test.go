package docs

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"testing"

	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
)

// The transport of the guide, which is TCP by another name, and passes the suite of all transports.

// doc: carrier
func init() { transport.Register("carrier", carrier{}) }

type carrier struct{}

func (carrier) Listen(ctx context.Context, at *url.URL, config transport.Config) (transport.Listener, error) {
	if err := config.CheckPlain(at); err != nil { // it has no TLS
		return nil, err
	}
	bind, err := config.ListenAddr(ctx, at) // resolves the host, and refuses what is open to everyone
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", bind.String())
	if err != nil {
		return nil, err
	}
	bound := l.Addr().(*net.TCPAddr).AddrPort()
	addr, err := config.AdvertisedAddr(at.Scheme, netip.AddrPortFrom(bound.Addr().Unmap(), bound.Port()))
	if err != nil {
		l.Close()
		return nil, err
	}
	return carrierListener{l, addr}, nil
}

func (carrier) Dial(ctx context.Context, to *url.URL, config transport.Config) (net.Conn, error) {
	if err := config.CheckPlain(to); err != nil {
		return nil, err
	}
	address, err := config.DialAddr(to)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: config.DialLimit()}
	return dialer.DialContext(ctx, "tcp", address)
}

type carrierListener struct {
	net.Listener
	addr string
}

func (l carrierListener) Addr() string { return l.addr } // what others dial

// end

// doc: carrier-suite
func TestConformanceOfACarrier(t *testing.T) {
	transporttest.Stream(t, func(t *testing.T) (string, transport.Config) { return "carrier://:0", transport.Config{} })
}

func BenchmarkCarrier(b *testing.B) { transporttest.Benchmark(b, "carrier://:0", transport.Config{}) }

// end
