package redis

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/transport"
)

const defaultPort = "6379"

// address is what a URL says.
type address struct {
	url      *url.URL
	hostPort string
	database int
	secure   bool
}

// parse reads a URL, of which no part is silently without effect.
func parse(at *url.URL) (*address, error) {
	a := &address{url: at, secure: at.Scheme == "rediss"}
	if at.Opaque != "" || at.RawQuery != "" || at.ForceQuery || at.Fragment != "" || at.Host == "" {
		return nil, fmt.Errorf("the address %q is not %s://host:port/database", at.Redacted(), at.Scheme)
	}
	if host := at.Hostname(); strings.Contains(host, ":") && !isIP(host) {
		return nil, fmt.Errorf("the address %q has the host %q, which is none", at.Redacted(), host)
	}
	if path := strings.TrimPrefix(at.Path, "/"); path != "" {
		database, err := strconv.ParseUint(path, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("the address %q has the database %q: want a number, or none", at.Redacted(), path)
		}
		a.database = int(database)
	}
	whole := url.URL{Scheme: at.Scheme, Host: at.Host}
	if at.Port() == "" {
		whole.Host = net.JoinHostPort(at.Hostname(), defaultPort)
	}
	var err error
	a.hostPort, err = transport.DialAddr(&whole)
	return a, err
}

// public is the address for others, without a password.
func (a *address) public() string {
	u := url.URL{Scheme: a.url.Scheme, Host: a.hostPort}
	if a.database != 0 {
		u.Path = "/" + strconv.Itoa(a.database)
	}
	return u.String()
}

func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}
