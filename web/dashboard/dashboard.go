package dashboard

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/secret"
)

// Config holds the settings of a dashboard.
type Config struct {
	// Key gives the dashboard a key of its own instead of the server's: its holder may see the dashboard, call public actions
	// through it, and replay and delete dead letters, and nothing else. Off loopback it needs at least 16 characters.
	// Without one, as where it is empty, the server's key holds; a dashboard off loopback that has neither is an error of the start.
	Key secret.Secret
	// ReadOnly hides the form that calls actions and the buttons that settle dead letters, and refuses both.
	ReadOnly bool
	// Every is the interval at which the nodes are asked while a browser watches. Default: a second; at least 100 ms.
	Every time.Duration
}

type config struct {
	keys     *httpaccess.Keys
	readOnly bool
	every    time.Duration
	guarded  bool // other machines can reach it
	// sessionCheck bounds how long a stream outlasts its session. Default: 5 seconds.
	sessionCheck time.Duration
	schemas      schemaSource
	client       func(*http.Request) netip.Addr // the address that a request came from
}

// dashboard is a dashboard of one node.
type dashboard struct {
	node        *sabir.Node
	prefix      string // without a slash at the end
	config      config
	sessions    *sessions // nil where access is open
	attempts    *attempts
	origin      *http.CrossOriginProtection
	hub         *hub
	events      *tap
	answerCache *answerCache
	routes      map[string]route
	files       map[string]file
}

// route is one address of the dashboard's own API.
type route struct {
	method string
	open   bool // needs no session
	serve  http.HandlerFunc
}

func newDashboard(n *sabir.Node, prefix string, c config) (*dashboard, error) {
	prefix = strings.TrimSuffix(prefix, "/")
	switch {
	case prefix == "" || prefix[0] != '/' || strings.ContainsAny(prefix, "?#%\\\" ") || strings.Contains(prefix, "//"):
		return nil, fmt.Errorf("dashboard: the path %q cannot be used: it has to be like /dashboard", prefix)
	case c.guarded && c.keys.None():
		return nil, errors.New("dashboard: other machines could see it and call actions with it: give it a Key in dashboard.Config, or the gateway one with gateway.Key")
	case c.guarded && c.keys.Shortest() < httpaccess.MinKey:
		return nil, fmt.Errorf("dashboard: a key of %d characters is too short for what other machines can reach: use at least %d random ones (openssl rand -hex 16)", c.keys.Shortest(), httpaccess.MinKey)
	}
	if c.every == 0 {
		c.every = time.Second
	}
	if c.sessionCheck == 0 {
		c.sessionCheck = 5 * time.Second
	}
	if c.schemas == nil {
		c.schemas = askSchema
	}
	files, err := readFiles(pages)
	if err != nil {
		return nil, err
	}
	b := &dashboard{node: n, prefix: prefix, config: c, attempts: newAttempts(time.Now), origin: http.NewCrossOriginProtection(), files: files}
	if !c.keys.None() {
		if b.sessions, err = newSessions(c.keys, time.Now); err != nil {
			return nil, err
		}
	}
	b.hub = newHub(n, c.every)
	b.events = newTap(n)
	b.answerCache = newAnswerCache()
	b.routes = map[string]route{
		"/login":            {http.MethodPost, true, b.login},
		"/logout":           {http.MethodPost, false, b.logout},
		"/api/stream":       {http.MethodGet, false, b.stream},
		"/api/events":       {http.MethodGet, false, b.streamEvents},
		"/api/action":       {http.MethodGet, false, b.action},
		"/api/latency":      {http.MethodGet, false, b.latency},
		"/api/processes":    {http.MethodGet, false, b.processes},
		"/api/grains":       {http.MethodGet, false, b.grains},
		"/api/traces":       {http.MethodGet, false, b.traces},
		"/api/trace":        {http.MethodGet, false, b.trace},
		"/api/history":      {http.MethodGet, false, b.history},
		"/api/dependencies": {http.MethodGet, false, b.dependencies},
		"/api/channels":     {http.MethodGet, false, b.answersTo("$channels.list")},
		"/api/dead-letters": {http.MethodGet, false, b.deadLetters},
		"/api/settle":       {http.MethodPost, false, b.settle},
		"/api/breakers":     {http.MethodGet, false, b.answersTo("$breakers.list")},
		"/api/config":       {http.MethodGet, false, b.answersTo("$config.list")},
		"/api/call":         {http.MethodPost, false, b.call},
	}
	return b, nil
}

// Public makes the server let requests through without its key: the dashboard has a login page, and checks the rest itself.
func (b *dashboard) Public() bool { return true }

// security is the headers of every answer. Scripts and styles come from the dashboard's own files alone, so that nothing that
// a node or an event sends can become part of the page (www.w3.org/TR/CSP3).
var security = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cache-Control":                "no-store",
}

// callHeader is demanded with every request that changes something. Pages of other sites cannot send it without asking
// first, and are refused then.
const callHeader = "X-Sabir-Dashboard"

// ServeHTTP serves the dashboard below its prefix.
func (b *dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range security {
		w.Header().Set(name, value)
	}
	path, below := strings.CutPrefix(r.URL.Path, b.prefix)
	switch {
	case path == "" || !below && path == "/":
		http.Redirect(w, r, b.prefix+"/", http.StatusSeeOther)
		return
	case path[0] != '/' || r.URL.RawPath != "":
		b.fail(w, sabir.Errorf(sabir.CodeNotFound, errNotFound.Name, "the dashboard has no page %.100q", r.URL.Path))
		return
	}
	if err := b.origin.Check(r); err != nil {
		b.fail(w, sabir.NewError(sabir.CodePermissionDenied, errname.CrossOrigin, "a browser sent this for a page of another site"))
		return
	}
	if to, known := b.routes[path]; known && (to.method == r.Method || !to.open) {
		b.serveRoute(w, r, to)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		b.fail(w, sabir.Errorf(sabir.CodeUnimplemented, errname.MethodNotAllowed, "the method is %.20q; this address is only read", r.Method))
		return
	}
	b.servePage(w, r, path)
}

func (b *dashboard) serveRoute(w http.ResponseWriter, r *http.Request, to route) {
	if to.method != r.Method {
		w.Header().Set("Allow", to.method)
		b.fail(w, sabir.Errorf(sabir.CodeUnimplemented, errname.MethodNotAllowed, "the method is %.20q; use %s", r.Method, to.method))
		return
	}
	if !to.open {
		if err := b.checkSession(r); err != nil {
			b.fail(w, err)
			return
		}
		if to.method == http.MethodPost && r.Header.Get(callHeader) != "1" {
			b.fail(w, sabir.Errorf(sabir.CodePermissionDenied, errname.CrossOrigin, "the header %s: 1 is missing, by which the dashboard knows its own page", callHeader))
			return
		}
	}
	to.serve(w, r)
}

// checkSession lets through requests with a session, or with the key itself, as programs send it.
func (b *dashboard) checkSession(r *http.Request) *sabir.Error {
	if b.sessions == nil {
		return nil
	}
	if cookie, err := r.Cookie(cookieName); err == nil && b.sessions.valid(cookie.Value) {
		return nil
	}
	scheme, key, given := strings.Cut(r.Header.Get("Authorization"), " ")
	if given && strings.EqualFold(scheme, "Bearer") {
		if !b.attempts.allow(b.config.client(r)) {
			return tooManyAttempts()
		}
		if b.config.keys.Fits(strings.TrimSpace(key)) {
			return nil
		}
		b.attempts.failed(b.config.client(r))
	}
	return sabir.NewError(sabir.CodeUnauthenticated, errname.BadKey, "log in first: open "+b.prefix+"/login in a browser")
}

//go:embed page
var embedded embed.FS

var pages = func() fs.FS {
	sub, err := fs.Sub(embedded, "page")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	return sub
}()
