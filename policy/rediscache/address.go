package rediscache

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir/transport"
)

const defaultPort = "6379"

// read takes the server's address from a URL, of which no part is silently without effect. No error tells the password.
func (s *Store) read(address string) error {
	at, err := url.Parse(address)
	if err != nil {
		if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
			err = wrapped.Err // the URL itself may hold a password
		}
		return fmt.Errorf("the address cannot be read: %w; want redis://user:password@host:port/database", err)
	}
	switch {
	case at.Scheme != "redis" && at.Scheme != "rediss":
		return fmt.Errorf("the address has the scheme %q: want redis or rediss", at.Scheme)
	case at.Opaque != "" || at.RawQuery != "" || at.ForceQuery || at.Fragment != "" || at.Hostname() == "":
		return fmt.Errorf("the address %q is not %s://host:port/database", at.Redacted(), at.Scheme)
	}
	port := at.Port()
	if port == "" {
		port = defaultPort
	}
	s.address = net.JoinHostPort(at.Hostname(), port)
	o := rueidis.ClientOption{InitAddress: []string{s.address}}
	if path := strings.TrimPrefix(at.Path, "/"); path != "" {
		database, err := strconv.ParseUint(path, 10, 16)
		if err != nil {
			return fmt.Errorf("the address %q has the database %q: want a number, or none", at.Redacted(), path)
		}
		o.SelectDB = int(database)
	}
	if at.User != nil {
		o.Username = at.User.Username()
		o.Password, _ = at.User.Password()
	}
	switch {
	case at.Scheme == "rediss":
		if o.TLSConfig, err = transport.ClientTLS(s.tls, at.Hostname()); err != nil {
			return err
		}
	case s.tls != nil:
		return fmt.Errorf("TLS was given for %q, which is not encrypted: want rediss", at.Redacted())
	}
	s.options = o
	return nil
}
