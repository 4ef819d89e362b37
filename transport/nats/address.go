package nats

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	// embeddedHost is the host that means a server inside the process.
	embeddedHost = "embedded"
	defaultPort  = 4222
	// routesAbove is how far the port for routes is above the one for clients: NATS's own are 4222 and 6222.
	routesAbove = 2000
)

// address is what a URL says.
type address struct {
	url     *url.URL
	servers []string // host:port of each, none for an embedded one
	secure  bool     // tls=true

	port   int // of an embedded server, 0 for any
	host   string
	routes []string // host:port
	store  string   // absolute
	sync   bool
}

func (a *address) embedded() bool { return len(a.servers) == 0 }

// routePort is where the first embedded server with the port listens for routes.
func (a *address) routePort() int {
	if a.port+routesAbove > 65535 {
		return a.port - routesAbove
	}
	return a.port + routesAbove
}

// parse reads a URL, of which no part is silently without effect.
func parse(at *url.URL) (*address, error) {
	a := &address{url: at}
	if at.Opaque != "" || at.Path != "" && at.Path != "/" || at.Fragment != "" || at.Host == "" {
		return nil, a.fault(`is not nats://host:port or nats://embedded`)
	}
	query, err := url.ParseQuery(at.RawQuery)
	if err != nil {
		return nil, a.fault("has options that cannot be read: %v", err)
	}
	known := []string{"tls"}
	if host, _, _ := strings.Cut(at.Host, ":"); host == embeddedHost {
		known = []string{"host", "routes", "store", "sync"}
		err = a.parseEmbedded(query)
	} else {
		err = a.parseServers(query)
	}
	if err != nil {
		return nil, err
	}
	for name, values := range query {
		if !slices.Contains(known, name) {
			return nil, a.fault("has the unknown option %q: want %s", name, strings.Join(known, ", "))
		}
		if len(values) > 1 {
			return nil, a.fault("has the option %q more than once", name)
		}
	}
	return a, nil
}

func (a *address) parseServers(query url.Values) (err error) {
	for server := range strings.SplitSeq(a.url.Host, ",") {
		host, port, err := hostPort(server, defaultPort)
		if err != nil || port == 0 || host == embeddedHost {
			return a.fault("has the server %q: want host or host:port", server)
		}
		if host == "" || strings.EqualFold(host, "localhost") {
			host = "127.0.0.1"
		}
		a.servers = append(a.servers, net.JoinHostPort(host, strconv.Itoa(port)))
	}
	a.secure, err = a.truth(query, "tls")
	return err
}

func (a *address) parseEmbedded(query url.Values) (err error) {
	if a.url.User != nil {
		return a.fault("has a user, which an embedded server does not ask for")
	}
	if _, a.port, err = hostPort(a.url.Host, defaultPort); err != nil {
		return a.fault("has a port that is no number from 0 (any free one) to 65535")
	}
	a.host = query.Get("host")
	for route := range strings.SplitSeq(query.Get("routes"), ",") {
		if route == "" {
			continue
		}
		host, port, err := hostPort(route, defaultPort+routesAbove)
		if err != nil || host == "" || port == 0 {
			return a.fault("has the route %q: want host or host:port, where an embedded server listens for routes", route)
		}
		a.routes = append(a.routes, net.JoinHostPort(host, strconv.Itoa(port)))
	}
	if a.store = query.Get("store"); a.store != "" {
		if len(a.routes) > 0 {
			return a.fault("has a store and routes: a server with a store joins no others")
		}
		if a.store, err = filepath.Abs(a.store); err != nil {
			return a.fault("has a store that cannot be found: %v", err)
		}
	}
	if a.sync, err = a.truth(query, "sync"); err == nil && a.sync && a.store == "" {
		err = a.fault("has sync without store")
	}
	return err
}

func (a *address) truth(query url.Values, name string) (bool, error) {
	if !query.Has(name) {
		return false, nil
	}
	value, err := strconv.ParseBool(query.Get(name))
	if err != nil {
		return false, a.fault("has %s=%q: want true or false", name, query.Get(name))
	}
	return value, nil
}

func (a *address) fault(format string, arguments ...any) error {
	return fmt.Errorf("the address %q %s", a.url.Redacted(), fmt.Sprintf(format, arguments...))
}

// public is the address for others, without a password.
func (a *address) public() string {
	u := url.URL{Scheme: "nats", Host: strings.Join(a.servers, ",")}
	if a.secure {
		u.RawQuery = "tls=true"
	}
	return u.String()
}

// hostPort takes apart "host", "host:port", "[v6]" and "[v6]:port".
func hostPort(text string, without int) (host string, port int, err error) {
	u := url.URL{Host: text}
	if strings.ContainsAny(text, "/?#@, ") || strings.Count(text, ":") > 1 && !strings.HasPrefix(text, "[") {
		return "", 0, fmt.Errorf("%q is not a host and a port", text)
	}
	if u.Port() == "" {
		if strings.HasSuffix(text, ":") || !strings.HasPrefix(text, "[") && strings.Contains(text, ":") {
			return "", 0, fmt.Errorf("%q has no port after the colon", text)
		}
		return u.Hostname(), without, nil
	}
	number, err := strconv.ParseUint(u.Port(), 10, 16)
	return u.Hostname(), int(number), err
}
