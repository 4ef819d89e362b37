package web

import (
	"net/http"
	"net/netip"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/httpaccess"
)

// Site describes to a mounted handler where it is mounted.
type Site struct {
	Node     *sabir.Node
	Prefix   string           // its own
	Keys     *httpaccess.Keys // of gateway.Key; none without
	Loopback bool             // it listens on this machine, lets callers in without credentials and answers to this machine's names only
	Open     bool             // every client may call: see AllowUnauthenticated of Config
	API      func() api.API   // what can be called here now
	Body     int64            // bytes of a request's body, see Config
	// Client returns the address that a request came from, by the proxies that TrustProxies of Config names.
	Client func(*http.Request) netip.Addr
	// Handler answers requests as the server does, for a mounted handler of another protocol that makes requests of its own for the
	// client whose request it has. With that request's headers, Host, RemoteAddr and TLS they pass the guards of the action that they
	// call, as the client's own would: filters, authentication, limits, middlewares. They count beside the client's request, as the
	// calls of a batch do.
	Handler http.Handler
}

// mount is a handler that is put under a prefix.
type mount struct {
	prefix string
	make   func(Site) (http.Handler, error)
}

// Mounted puts a handler under a prefix: it gets the requests for the prefix itself and for what is below it. make is called
// when the node starts; its error is that of the start. The handler runs behind the site check, the filters and the
// authentication of the server; one that has a method Public() bool which returns true, such as a login page, runs before
// the authentication and checks by itself. The context of other requests has the caller: see auth.FromContext.
//
// The handler may have three more methods. Challenge(*http.Request) string is the WWW-Authenticate of the answer 401 to a request that
// the authentication has refused; "" leaves that of the authenticators. Refused([]byte) []byte
// is the body, as JSON, in the place of the problem document of a request that filters or the authentication have refused. Stop(context.Context) error is called when the server stops,
// before it waits for the requests in flight: it ends those that would never end, and must return by the end of the context.
func Mounted(prefix string, make func(Site) (http.Handler, error)) gateway.HTTPOption {
	return func(c *httpaccess.Config) { c.Options = append(c.Options, mount{prefix, make}) }
}
