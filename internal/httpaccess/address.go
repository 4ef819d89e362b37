package httpaccess

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// Address is the address on which a server listens. It is one IP address, so that exactly what was checked is bound.
type Address struct {
	Host string // as configured; "" for none
	At   netip.AddrPort
}

// Loopback reports whether only this machine can reach the address.
func (a Address) Loopback() bool { return a.At.Addr().Unmap().IsLoopback() }

// Resolve works out what "host:port" means. No host is 127.0.0.1, and so is localhost (RFC 6761, section 6.3); another
// name is looked up, and the first IPv4 address goes before the first IPv6 one.
func Resolve(ctx context.Context, addr string) (Address, error) {
	host, portText, err := net.SplitHostPort(addr)
	if err != nil {
		return Address{}, fmt.Errorf(`the address %q is not host:port, such as ":3000" or "0.0.0.0:3000": %w`, addr, err)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return Address{}, fmt.Errorf("the address %q has the port %q: want a number from 0 (any free one) to 65535", addr, portText)
	}
	ip, err := resolveHost(ctx, host)
	if err != nil {
		return Address{}, fmt.Errorf("the address %q: %w", addr, err)
	}
	return Address{host, netip.AddrPortFrom(ip, uint16(port))}, nil
}

func resolveHost(ctx context.Context, host string) (netip.Addr, error) {
	if host == "" || strings.EqualFold(host, "localhost") {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip, nil
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("the host %q cannot be resolved: %w", host, err)
	}
	for _, ip := range found {
		if ip.Unmap().Is4() {
			return ip.Unmap(), nil
		}
	}
	if len(found) == 0 {
		return netip.Addr{}, fmt.Errorf("the host %q has no address", host)
	}
	return found[0], nil
}
