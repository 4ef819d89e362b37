// Package nats reads addresses of NATS and connects to them, to servers elsewhere or to one that it runs inside the process. Links,
// channels, states of grains (all below broker/nats) and the bridge to go-micro use it, so that one address is right or wrong for all:
//
//	address, err := nats.Parse(at)
//	...
//	conn, err := nats.Connect(ctx, address, transport.Config{Name: "shop-1"})
//	...
//	defer conn.Release()
//	defer conn.Conn.Close()
package nats

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/internal/address"
)

const (
	// embeddedHost is the host that means a server inside the process.
	embeddedHost = "embedded"
	defaultPort  = "4222"
	// routesAbove is the distance of the port for routes above the one for clients: NATS's own are 4222 and 6222.
	routesAbove       = 2000
	defaultRoutesPort = "6222"
	// maxReplicas is the most that JetStream makes of a stream.
	maxReplicas = 5
)

// StoreClient is the end of the names of clients that use the server's store. An embedded server that has opened its store anew
// disconnects these, so that they ask again for what they were waiting for.
const StoreClient = " (store)"

// Address is one NATS server, several of one NATS cluster, or a server embedded in the process.
type Address struct {
	Name    string        // the address without its password, for errors and logs
	Scheme  string        // "nats"
	User    *url.Userinfo // nil where there is none
	Servers []string      // "host:port" of each; none for an embedded server
	Secure  bool          // nothing but TLS

	Prefix   string // of the names of streams and buckets
	Replicas int    // of streams and buckets; 0 where the address does not set it

	// The others are of an embedded server.
	Port   int // 0 for any
	Host   string
	Routes []string // "host:port" of servers on other machines
	Store  string   // an absolute path; "" without JetStream
	Sync   bool
}

// Embedded reports whether the server is one inside the process.
func (a *Address) Embedded() bool { return len(a.Servers) == 0 }

// RoutePort is the port at which the first embedded server with the port listens for routes.
func (a *Address) RoutePort() int {
	if a.Port+routesAbove > 65535 {
		return a.Port - routesAbove
	}
	return a.Port + routesAbove
}

// Parse reads nats://user:password@host:port,host:port?tls=true&prefix=p&replicas=n or
// nats://embedded:port?host=h&routes=r&store=folder&sync=true&prefix=p&replicas=n. A part that means nothing is an error. No
// error shows the password.
func Parse(at *url.URL) (*Address, error) {
	a := &Address{Name: at.Redacted(), Scheme: at.Scheme, User: at.User}
	if err := a.read(at); err != nil {
		return nil, fmt.Errorf("the address %q %w", a.Name, err)
	}
	return a, nil
}

func (a *Address) read(at *url.URL) (err error) {
	if at.Opaque != "" || at.Path != "" && at.Path != "/" || at.Fragment != "" || at.Host == "" {
		return fmt.Errorf("is not nats://user:password@host:port or nats://embedded")
	}
	parameters := address.Read(at)
	a.Prefix = parameters.Prefix(address.WithoutDots)
	a.Replicas = parameters.Number("replicas", "", 0, 1, maxReplicas)
	if host, _, _ := strings.Cut(at.Host, ":"); host == embeddedHost {
		err = a.readEmbedded(at, parameters)
	} else {
		a.Secure = parameters.Bool("tls")
		a.Servers, err = address.Servers(at.Host, defaultPort)
	}
	if err != nil {
		return err
	}
	for _, server := range a.Servers {
		if strings.HasPrefix(server, embeddedHost+":") {
			return fmt.Errorf("has an embedded server among others")
		}
	}
	return parameters.Err()
}

func (a *Address) readEmbedded(at *url.URL, parameters *address.Parameters) (err error) {
	if at.User != nil {
		return fmt.Errorf("has a user, which an embedded server does not ask for")
	}
	if _, a.Port, err = address.HostPort(at.Host, defaultPort); err != nil {
		return fmt.Errorf("has a port that is no number from 0 (any free one) to 65535")
	}
	a.Host, _ = parameters.Text("host")
	if routes, _ := parameters.Text("routes"); routes != "" {
		if a.Routes, err = routesOf(routes); err != nil {
			return err
		}
	}
	a.Store, _ = parameters.Text("store")
	a.Sync = parameters.Bool("sync")
	switch {
	case a.Store != "" && len(a.Routes) > 0:
		return fmt.Errorf("has a store and routes: a server with a store joins no others")
	case a.Store == "" && a.Sync:
		return fmt.Errorf("has sync without store")
	case a.Store == "":
		return nil
	}
	if a.Store, err = filepath.Abs(a.Store); err != nil {
		return fmt.Errorf("has a store that cannot be found: %w", err)
	}
	return nil
}

func routesOf(text string) (routes []string, err error) {
	for route := range strings.SplitSeq(text, ",") {
		host, port, err := address.HostPort(route, defaultRoutesPort)
		if err != nil || host == "" || port == 0 {
			return nil, fmt.Errorf("has the route %q: want host or host:port, where an embedded server listens for routes", route)
		}
		routes = append(routes, net.JoinHostPort(host, strconv.Itoa(port)))
	}
	return routes, nil
}

// Server identifies an embedded server: uses whose addresses have the same Server share it, whatever prefix and
// replicas each has.
func (a *Address) Server() string {
	return fmt.Sprintf("%s:%d %q %q %v", a.Host, a.Port, a.Routes, a.Store, a.Sync)
}

// Public is the address for other nodes, without user and password and what is this node's alone.
func (a *Address) Public() string {
	u := url.URL{Scheme: "nats", Host: strings.Join(a.Servers, ",")}
	if a.Secure {
		u.RawQuery = "tls=true"
	}
	return u.String()
}
