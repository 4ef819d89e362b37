package web

import (
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

// option is what the functions of this package add to sabir.HTTPConfig.Options. One of the two is set.
type option struct {
	name string
	door func(*door)     // for the whole face or one group of it
	face func(*settings) // for a face only
}

func (o option) add() sabir.HTTPOption {
	return func(c *sabir.HTTPConfig) { c.Options = append(c.Options, o) }
}

// Use adds filters: the first is the outermost, and what comes before Auth among the options runs before the authentication.
// Those of the face go around those of its groups. filter.CORS belongs first, so that errors can be read by other sites too.
func Use(filters ...exchange.Filter) sabir.HTTPOption {
	return option{name: "Use", door: func(d *door) { d.filters = append(d.filters, filters...) }}.add()
}

// Around lets calls and streams that come in here pass middlewares before those of the node, as hooks before and after a
// call. Other calls of the same actions do not pass them.
func Around(middlewares ...sabir.Middleware) sabir.HTTPOption {
	return option{name: "Around", door: func(d *door) { d.middlewares = append(d.middlewares, middlewares...) }}.add()
}

// Auth says how callers show who they are: one of the authenticators has to know them, or the answer is 401. The key of
// sabir.HTTPKey is one more way. In a group it replaces what the face says.
func Auth(authenticators ...auth.Authenticator) sabir.HTTPOption {
	return option{name: "Auth", door: func(d *door) {
		d.authenticators, d.anonymous = authenticators, false
		d.decide()
	}}.add()
}

// Anonymous lets callers in who show nothing, and still finds out who they are if they do: actions that need to know ask
// with auth.Require. For a group whose face demands more.
func Anonymous() sabir.HTTPOption {
	return option{name: "Anonymous", door: func(d *door) {
		d.anonymous = true
		d.decide()
	}}.add()
}

// Open lets a face listen beyond this machine although anyone may call it: for an API that is meant for everybody.
func Open() sabir.HTTPOption {
	return option{name: "Open", face: func(s *settings) { s.open = true }}.add()
}

// Timeout bounds every call, and what callers can ask for with X-Request-Timeout; 30 seconds without it. Streams are not
// bounded.
func Timeout(limit time.Duration) sabir.HTTPOption {
	return option{name: "Timeout", door: func(d *door) { d.timeout = limit }}.add()
}

// BodyLimit bounds the bodies of requests, in bytes; 1 MiB without it. Uploads to streams are not bounded.
func BodyLimit(bytes int64) sabir.HTTPOption {
	return option{name: "BodyLimit", door: func(d *door) { d.body = bytes }}.add()
}

// MaxConnections bounds how many connections are open at once; 10,000 without it. Further ones wait to be accepted.
func MaxConnections(n int) sabir.HTTPOption {
	return option{name: "MaxConnections", face: func(s *settings) { s.limits.connections = n }}.add()
}

// StrictFields refuses query parameters that an action does not have, and members of a body that its input has no field for,
// with an error that names them. Without it they are passed over, so that callers may be newer.
func StrictFields() sabir.HTTPOption {
	return option{name: "StrictFields", door: func(d *door) { d.strict = true }}.add()
}

// Group puts actions under a prefix such as "/v1", with options of their own: Use, Around, Auth, Anonymous, Timeout,
// BodyLimit, StrictFields and Services. An action that a group takes is reached through its groups only; all others are at the face's root.
func Group(prefix string, options ...sabir.HTTPOption) sabir.HTTPOption {
	var config sabir.HTTPConfig
	for _, o := range options {
		o(&config)
	}
	return option{name: "Group", face: func(s *settings) { s.group(prefix, config.Options) }}.add()
}

// Services says which services a group takes, by name with or without version; without it a group takes all.
func Services(names ...string) sabir.HTTPOption {
	return option{name: "Services", door: func(d *door) { d.services = append(d.services, names...) }}.add()
}

// Mount puts an existing handler under a prefix. Its requests keep their whole path: use http.StripPrefix for one that wants
// to be at the root.
func Mount(prefix string, handler http.Handler) sabir.HTTPOption {
	return Mounted(prefix, func(Site) (http.Handler, error) { return handler, nil })
}

// Static serves the files of a file system, such as os.DirFS("public") or an embed.FS, under a prefix; "/" for all that is
// nothing else. GET and HEAD, ranges and conditional requests work; a folder answers with its index.html, never with a list.
func Static(prefix string, files fs.FS) sabir.HTTPOption {
	bare := strings.TrimSuffix(prefix, "/")
	below := http.StripPrefix(bare, http.FileServerFS(noLists{files}))
	return Mounted(prefix, func(Site) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == bare { // so that links in its index mean what is below it
				http.Redirect(w, r, path.Base(bare)+"/", http.StatusPermanentRedirect)
				return
			}
			below.ServeHTTP(w, r)
		}), nil
	})
}

// Events lets callers listen to events at GET /events, as Server-Sent Events or over a WebSocket: those whose names match
// one of the patterns, such as "orders.*".
func Events(patterns ...string) sabir.HTTPOption {
	return option{name: "Events", face: func(s *settings) { s.events = append(s.events, patterns...) }}.add()
}

// About gives the API a title, a version and a description, for generated documents; without it they are the node's id and
// "0".
func About(title, version, description string) sabir.HTTPOption {
	return option{name: "About", face: func(s *settings) { s.title, s.version, s.description = title, version, description }}.add()
}
