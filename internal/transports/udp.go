package transports

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"syscall"

	"github.com/sabir-go/sabir/transport"
)

// ListenUDP returns a socket for drivers over UDP, bound to the address that [transport.Config.ListenAddr] returns under the same conditions, and
// the address for other nodes, see [transport.Config.AdvertisedAddr]. The caller must close the socket.
func ListenUDP(ctx context.Context, at *url.URL, config transport.Config) (*net.UDPConn, string, error) {
	bind, err := config.ListenAddr(ctx, at)
	if err != nil {
		return nil, "", err
	}
	// With "udp", Go takes 0.0.0.0 for all IPv6 addresses too.
	network := "udp"
	if bind.Addr().Is4() {
		network = "udp4"
	}
	udp, err := net.ListenUDP(network, net.UDPAddrFromAddrPort(bind))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, "", fmt.Errorf("%w: something listens there already; take another port, or port 0 for a free one", err)
	}
	if err != nil {
		return nil, "", err
	}
	bound := udp.LocalAddr().(*net.UDPAddr).AddrPort()
	addr, err := config.AdvertisedAddr(at.Scheme, netip.AddrPortFrom(bound.Addr().Unmap(), bound.Port()))
	if err != nil {
		udp.Close()
		return nil, "", err
	}
	return udp, addr, nil
}
