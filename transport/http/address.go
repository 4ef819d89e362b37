package http

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

// defaultPath is the path of addresses without one.
const defaultPath = "/sabir"

// driver is http:// or https://.
type driver struct{ encrypted bool }

func init() {
	transport.Register("http", driver{})
	transport.Register("https", driver{encrypted: true})
}

// check refuses parts of an address that have no meaning, and certificates for an address that is not encrypted.
func (d driver) check(u *url.URL, config transport.Config) error {
	if u.Opaque != "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return fmt.Errorf("the address %q is not %s://host:port/path", u.Redacted(), u.Scheme)
	}
	if d.encrypted {
		return nil
	}
	return config.CheckPlain(u, "https")
}

// whole is the address with what is left out of it filled in, as it is compared and shown.
func (d driver) whole(u *url.URL) *url.URL {
	full := *u
	full.Host = strings.ToLower(u.Host)
	if full.Path == "" || full.Path == "/" {
		full.Path, full.RawPath = defaultPath, ""
	}
	if u.Port() == "" && u.Hostname() != "" {
		full.Host = net.JoinHostPort(strings.ToLower(u.Hostname()), d.port())
	}
	return &full
}

func (d driver) port() string {
	if d.encrypted {
		return "443"
	}
	return "80"
}

// socket is the address of the socket below, of the transport tcp or tls.
func socket(scheme string, u *url.URL) (transport.Stream, *url.URL, error) {
	below, ok := transports.Stream(scheme)
	if !ok {
		return nil, nil, fmt.Errorf("the transport %s:// is not registered", scheme)
	}
	return below, &url.URL{Scheme: scheme, Host: u.Host}, nil
}
