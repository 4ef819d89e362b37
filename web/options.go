package web

import (
	"io/fs"
	"net/http"
	"net/netip"
	"path"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	options "github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

// option is the type that the functions of this package add to gateway.HTTPConfig.Options. One of routeGroup and server is set.
type option struct {
	name       string
	routeGroup func(*routeGroup) // for the whole server or one group of it
	server     func(*settings)   // for a whole server only
	once       options.Site      // where it was given, of those that may be given once for a server or group; 0 for the others
}

func (o option) add() gateway.HTTPOption {
	return func(c *gateway.HTTPConfig) { c.Options = append(c.Options, o) }
}

// Filters adds filters: the first is the outermost, and what comes before Auth among the options runs before the authentication.
// Those of the server go around those of its groups. filter.CORS belongs first, so that errors can be read by other sites too.
func Filters(filters ...exchange.Filterer) gateway.HTTPOption {
	return option{name: "Filters", routeGroup: func(d *routeGroup) {
		for _, f := range filters {
			d.filters = append(d.filters, f.Filter())
		}
	}}.add()
}

// Use lets calls and streams that come in here pass middlewares before those of the node, as hooks before and after a
// call. Other calls of the same actions do not pass them.
func Use(wrappers ...sabir.Wrapper) gateway.HTTPOption {
	return option{name: "Use", routeGroup: func(d *routeGroup) { d.middlewares = append(d.middlewares, wrappers...) }}.add()
}

// Auth sets how callers authenticate: one of the authenticators has to accept them, or the answer is 401. The key of
// gateway.Key is one more way. In a group it replaces the server's.
func Auth(authenticators ...auth.Authenticator) gateway.HTTPOption {
	return option{name: "Auth", once: options.Caller(), routeGroup: func(d *routeGroup) {
		d.authenticators, d.anonymous = authenticators, false
		d.decide()
	}}.add()
}

// AllowAnonymous lets callers in without credentials, and still authenticates those that have some: actions that need it ask
// with auth.Require. For a group whose server demands more.
func AllowAnonymous() gateway.HTTPOption {
	return option{name: "AllowAnonymous", routeGroup: func(d *routeGroup) {
		d.anonymous = true
		d.decide()
	}}.add()
}

// TrustProxies names the proxies in front of the server, for all filters and handlers that ask for the client's address. Without it
// that is the connection's, whatever the headers say, and the log warns of the first request that has passed a proxy.
func TrustProxies(from ...netip.Prefix) gateway.HTTPOption {
	return option{name: "TrustProxies", server: func(s *settings) { s.proxies.From = append(s.proxies.From, from...) }}.add()
}

// ForwardedHeader names the one header that all trusted proxies set: "X-Forwarded-For", the default, or "Forwarded" (RFC 7239). The
// other one is not read.
func ForwardedHeader(name string) gateway.HTTPOption {
	return option{name: "ForwardedHeader", once: options.Caller(), server: func(s *settings) { s.proxies.Header = name }}.add()
}

// AllowUnauthenticated lets a server listen beyond this machine although every client may call it, for a public API.
func AllowUnauthenticated() gateway.HTTPOption {
	return option{name: "AllowUnauthenticated", server: func(s *settings) { s.open = true }}.add()
}

// RequestTimeout bounds every call, and what callers can ask for with X-Request-Timeout. Default: 30 seconds. Streams are not
// bounded.
func RequestTimeout(limit time.Duration) gateway.HTTPOption {
	return option{name: "RequestTimeout", once: options.Caller(), routeGroup: func(d *routeGroup) { d.timeout = limit }}.add()
}

// BodyLimit bounds the bodies of requests, in bytes. Default: 1 MiB. Uploads to streams are not bounded.
func BodyLimit(bytes int64) gateway.HTTPOption {
	return option{name: "BodyLimit", once: options.Caller(), routeGroup: func(d *routeGroup) { d.body, d.bodyGiven = bytes, true }}.add()
}

// MaxConnections bounds how many connections are open at once. Default: 10,000. Further ones wait to be accepted.
func MaxConnections(n int) gateway.HTTPOption {
	return option{name: "MaxConnections", once: options.Caller(), server: func(s *settings) { s.limits.connections = n }}.add()
}

// StrictFields refuses query parameters that an action does not have, and members of a body that its input has no field for,
// with an error that names them. By default they are passed over, so that callers may be newer.
func StrictFields() gateway.HTTPOption {
	return option{name: "StrictFields", routeGroup: func(d *routeGroup) { d.strict = true }}.add()
}

// Group puts actions under a prefix such as "/v1", with options of their own: Filters, Use, Auth, AllowAnonymous, RequestTimeout,
// BodyLimit, StrictFields and Services. An action that a group takes is reached through its groups only; all others are at the server's root.
func Group(prefix string, options ...gateway.HTTPOption) gateway.HTTPOption {
	var config gateway.HTTPConfig
	for _, o := range options {
		o(&config)
	}
	return option{name: "Group", server: func(s *settings) { s.group(prefix, config) }}.add()
}

// Services sets which services a group takes, by name with or without version. Default: all.
func Services(names ...string) gateway.HTTPOption {
	return option{name: "Services", routeGroup: func(d *routeGroup) { d.services = append(d.services, names...) }}.add()
}

// Mount puts an existing handler under a prefix. Its requests keep their whole path: use http.StripPrefix for one that wants
// to be at the root.
func Mount(prefix string, handler http.Handler) gateway.HTTPOption {
	return Mounted(prefix, func(Site) (http.Handler, error) { return handler, nil })
}

// Static serves the files of a file system, such as os.DirFS("public") or an embed.FS, under a prefix; "/" for all that is
// nothing else. GET and HEAD, ranges and conditional requests work, other methods are 405; a folder answers with its index.html, never
// with a list.
func Static(prefix string, files fs.FS) gateway.HTTPOption {
	bare := strings.TrimSuffix(prefix, "/")
	listless := noLists{files}
	below := http.StripPrefix(bare, http.FileServerFS(listless))
	return Mounted(prefix, func(Site) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet && r.Method != http.MethodHead {
				if _, err := fs.Stat(listless, strings.Trim(path.Clean("./"+strings.TrimPrefix(r.URL.Path, bare)), "/")); err != nil {
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Allow", "GET, HEAD")
				http.Error(w, "files are only read: use GET or HEAD", http.StatusMethodNotAllowed)
				return
			}
			if r.URL.Path == bare { // so that links in its index mean what is below it
				http.Redirect(w, r, path.Base(bare)+"/", http.StatusPermanentRedirect)
				return
			}
			below.ServeHTTP(w, r)
		}), nil
	})
}

// Info gives the API a title, a version and a description, for generated documents. By default they are the names of the services and
// "0".
func Info(title, version, description string) gateway.HTTPOption {
	return option{name: "Info", once: options.Caller(), server: func(s *settings) { s.title, s.version, s.description = title, version, description }}.add()
}
