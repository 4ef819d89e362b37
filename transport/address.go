package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// loopback is the address for no host and for "localhost" (RFC 6761, section 6.3).
var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// ListenAddr returns the one address that drivers with hosts and ports bind for a URL such as "tcp://:7700". No host and
// "localhost" are 127.0.0.1; another name is resolved, an IPv4 address before an IPv6 one. Port 0 is any free port.
//
// An address that other machines can reach is refused unless c is Keyed or its TLS demands certificates from
// clients. One call makes the check and the address, so that a driver binds exactly the address that was checked.
func (c Config) ListenAddr(ctx context.Context, at *url.URL) (netip.AddrPort, error) {
	host, port, err := hostPort(at)
	if err != nil {
		return netip.AddrPort{}, err
	}
	ip, err := resolve(ctx, host)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("the address %q: %w", at.Redacted(), err)
	}
	bound := netip.AddrPortFrom(ip, port)
	if ip.IsLoopback() || c.Keyed || demandsCertificates(c.TLS) {
		return bound, nil
	}
	return netip.AddrPort{}, fmt.Errorf("refusing to listen on %s (%s), where other machines could connect without proof: "+
		"set a cluster key, or use tls:// with certificates that clients must have too (tcp.Certificates with a CA file), "+
		"or leave out the host (%q) to be reached from this machine only", at.Redacted(), bound, fmt.Sprintf("%s://:%d", at.Scheme, port))
}

// CheckBroker reports to drivers of buses whether the broker at that host may be used. One on this machine may. Any program
// that can reach another one could claim to be a node: that is refused unless c is Keyed, or its TLS has a certificate
// for the broker to check.
func (c Config) CheckBroker(ctx context.Context, at *url.URL) error {
	ip, err := resolve(ctx, at.Hostname())
	if err != nil {
		return fmt.Errorf("the address %q: %w", at.Redacted(), err)
	}
	if ip.IsLoopback() || c.Keyed || c.TLS != nil && (len(c.TLS.Certificates) > 0 || c.TLS.GetClientCertificate != nil) {
		return nil
	}
	return fmt.Errorf("refusing to use the broker at %s, over which others could join without proof: set a cluster key, or a TLS configuration with a certificate of this node", at.Redacted())
}

// DialAddr returns the address that drivers with hosts and ports dial: "host:port" for [net.Dialer], where no host and
// "localhost" have become 127.0.0.1, and c.Resolved takes the place of any. Other names are left for the dialer to resolve,
// which can try several addresses.
func (c Config) DialAddr(to *url.URL) (string, error) {
	host, port, err := hostPort(to)
	if err != nil {
		return "", err
	}
	if port == 0 {
		return "", fmt.Errorf("the address %q has the port 0, which is only for listening", to.Redacted())
	}
	switch {
	case c.Resolved.IsValid():
		host = c.Resolved.String()
	case local(host):
		host = loopback.String()
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port))), nil
}

// AdvertisedAddr returns what Listener.Addr is, in drivers with hosts and ports, for a listener that is bound to an address:
// c.Advertise where set, else the bound address, else, where that means all addresses of the machine, the first one
// that other machines could reach, IPv4 before IPv6, or loopback where there is none.
func (c Config) AdvertisedAddr(scheme string, bound netip.AddrPort) (string, error) {
	host, port := bound.Addr().String(), bound.Port()
	switch {
	case c.Advertise != "":
		var err error
		if host, port, err = advertised(c.Advertise, port); err != nil {
			return "", err
		}
	case bound.Addr().IsUnspecified():
		host = ownAddr(bound.Addr().Is4()).String()
	}
	return (&url.URL{Scheme: scheme, Host: net.JoinHostPort(host, strconv.Itoa(int(port)))}).String(), nil
}

func advertised(text string, port uint16) (string, uint16, error) {
	if ip, err := netip.ParseAddr(text); err == nil {
		return ip.String(), port, nil
	}
	host := text
	if strings.Contains(text, ":") {
		var portText string
		var err error
		if host, portText, err = net.SplitHostPort(text); err != nil {
			return "", 0, fmt.Errorf(`the advertised address %q is not a host or host:port: %w`, text, err)
		}
		if port, err = parsePort(portText); err != nil || port == 0 {
			return "", 0, fmt.Errorf("the advertised address %q has the port %q: want a number from 1 to 65535", text, portText)
		}
	}
	if host == "" || strings.ContainsAny(host, "/@?# []") {
		return "", 0, fmt.Errorf("the advertised address %q is not a host or host:port", text)
	}
	return host, port, nil
}

// ownAddr is an address of this machine for others to dial.
func ownAddr(only4 bool) netip.Addr {
	addrs, _ := net.InterfaceAddrs() // none is loopback, as without a network
	found := loopback
	for _, a := range addrs {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil || !prefix.Addr().IsGlobalUnicast() {
			continue
		}
		if prefix.Addr().Is4() {
			return prefix.Addr()
		}
		if !only4 && found == loopback {
			found = prefix.Addr()
		}
	}
	return found
}

// hostPort takes apart a URL that must be scheme://host:port and nothing else, so that no part of an address is
// silently without effect.
func hostPort(u *url.URL) (string, uint16, error) {
	if u.Opaque != "" || u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return "", 0, fmt.Errorf("the address %q is not %s://host:port", u.Redacted(), u.Scheme)
	}
	if u.Port() == "" {
		return "", 0, fmt.Errorf("the address %q has no port: want %s://host:port, such as \"%s://:7700\"", u.Redacted(), u.Scheme, u.Scheme)
	}
	port, err := parsePort(u.Port())
	if err != nil {
		return "", 0, fmt.Errorf("the address %q has the port %q: want a number from 0 (any free one) to 65535", u.Redacted(), u.Port())
	}
	return u.Hostname(), port, nil
}

func parsePort(text string) (uint16, error) {
	port, err := strconv.ParseUint(text, 10, 16)
	return uint16(port), err
}

func local(host string) bool { return host == "" || strings.EqualFold(host, "localhost") }

func resolve(ctx context.Context, host string) (netip.Addr, error) {
	if local(host) {
		return loopback, nil
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap(), nil
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("the host %q cannot be resolved: %w", host, err)
	}
	if len(found) == 0 {
		return netip.Addr{}, errors.New("the host has no address")
	}
	for _, ip := range found {
		if ip.Unmap().Is4() {
			return ip.Unmap(), nil
		}
	}
	return found[0], nil
}
