package transports

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/sabir-go/sabir/transport"
)

// BrokerForm describes the addresses of a kind of broker: scheme://user:password@host:port, with or without a path.
// It is for drivers.
type BrokerForm struct {
	Port   string // where an address has none
	Path   string // what may follow host and port, as errors show it, such as "/vhost"; empty where nothing may
	Secure bool   // TLS on the connection, for schemes such as mqtts
}

// BrokerAddr is a broker address, parsed.
type BrokerAddr struct {
	Name     string      // for errors: the address without the password
	Addr     string      // for others, see [transport.Broker]: the address with its port, and without user and password
	HostPort string      // for [net.Dialer]; no host and "localhost" have become 127.0.0.1
	TLS      *tls.Config // for the connection, see [ClientTLS]; nil where it is not encrypted
}

// Parse takes an address apart. It is an error where a part of it means nothing, where it is not encrypted although config
// has a TLS configuration, or where that configuration cannot be used. No error shows the password. Whether the broker may
// be used is decided by [transport.Config.CheckBroker].
func (f BrokerForm) Parse(at *url.URL, config transport.Config) (BrokerAddr, error) {
	stray := f.Path == "" && at.Path != "" && at.Path != "/"
	if stray || at.Opaque != "" || at.RawQuery != "" || at.ForceQuery || at.Fragment != "" {
		return BrokerAddr{}, fmt.Errorf("the address %q is not %s://user:password@host:port%s", at.Redacted(), at.Scheme, f.Path)
	}
	host, port := at.Hostname(), at.Port()
	ip, err := netip.ParseAddr(host)
	if err != nil && strings.ContainsAny(host, ":[]%") || strings.ContainsFunc(ip.Zone(), notInZone) {
		return BrokerAddr{}, fmt.Errorf("the address %q has the host %q, which is none", at.Redacted(), host)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = f.Port
	}
	own := url.URL{Scheme: at.Scheme, Host: net.JoinHostPort(host, port)}
	hostPort, err := config.DialAddr(&own)
	if err != nil {
		return BrokerAddr{}, err
	}
	if f.Path != "" {
		// Without a user before it, an @ that is not escaped reads as the end of a password that has a slash in it.
		own.Path, own.RawPath = at.Path, strings.ReplaceAll(at.EscapedPath(), "@", "%40")
	}
	var encrypted *tls.Config
	if f.Secure {
		if encrypted, err = ClientTLS(config.TLS, host); err != nil {
			return BrokerAddr{}, fmt.Errorf("the address %q: %w", at.Redacted(), err)
		}
	} else if err := config.CheckPlain(at, at.Scheme+"s"); err != nil {
		return BrokerAddr{}, err
	}
	return BrokerAddr{Name: at.Redacted(), Addr: own.String(), HostPort: hostPort, TLS: encrypted}, nil
}

// notInZone reports whether a character must not be in the zone of an IPv6 address. Allowed are those that a URL may hold
// without escapes (RFC 6874, section 2), so that others can read it.
func notInZone(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && !strings.ContainsRune("-._~", r)
}
