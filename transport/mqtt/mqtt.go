package mqtt

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"net/url"
	"time"

	"github.com/sabir-go/sabir/transport"
)

func init() {
	transport.RegisterBus("mqtt", bus{port: "1883"})
	transport.RegisterBus("mqtts", bus{port: "8883", secure: true})
}

// bus is mqtt:// and mqtts://.
type bus struct {
	port   string // where the address has none
	secure bool
}

func (d bus) Connect(ctx context.Context, at *url.URL, config transport.Config, events transport.BusEvents) (transport.Broker, error) {
	s, err := d.site(at, config)
	if err != nil {
		return nil, err
	}
	if limit := config.DialLimit(); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	if err := transport.CheckBroker(ctx, at, config); err != nil {
		return nil, err
	}
	return connect(ctx, s, events)
}

// site is a broker and how to reach it.
type site struct {
	name           string // for errors
	addr           string // for others
	dial           string // host:port
	tls            *tls.Config
	user, password string
	client         string // by which the broker knows us
	config         transport.Config
}

func (d bus) site(at *url.URL, config transport.Config) (*site, error) {
	if at.Opaque != "" || at.Path != "" && at.Path != "/" || at.RawQuery != "" || at.Fragment != "" {
		return nil, fmt.Errorf("the address %q is not %s://user:password@host:port", at.Redacted(), at.Scheme)
	}
	host := at.Hostname()
	if host == "" {
		host = "127.0.0.1"
	}
	plain := url.URL{Scheme: at.Scheme, Host: at.Host}
	if at.Port() == "" {
		plain.Host += ":" + d.port
	}
	dial, err := transport.DialAddr(&plain)
	if err != nil {
		return nil, err
	}
	if at.Hostname() == "" {
		plain.Host = dial
	}
	s := &site{name: at.Redacted(), addr: plain.String(), dial: dial, client: "sabir-" + rand.Text(), config: config}
	s.user = at.User.Username()
	s.password, _ = at.User.Password()
	switch {
	case !d.secure && config.TLS != nil:
		return nil, fmt.Errorf("the address %q is not encrypted, but there is a TLS configuration: use mqtts://, or leave the configuration out", s.name)
	case d.secure:
		if s.tls, err = transport.ClientTLS(config.TLS, host); err != nil {
			return nil, fmt.Errorf("the address %q: %w", s.name, err)
		}
	}
	return s, nil
}

// keepAlive is after how many whole seconds of silence the broker is asked whether it is there; 0 is never.
func (s *site) keepAlive() time.Duration {
	idle := s.config.KeepAliveIdle()
	return min((idle + time.Second - 1).Truncate(time.Second), 65535*time.Second)
}
