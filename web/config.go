package web

import (
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/internal/httpstream"
	"github.com/sabir-go/sabir/internal/names"
	options "github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/internal/streamgateway"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

// Filters are hooks around requests, such as those of package filter: see [Config].
type Filters []exchange.Filterer

// Config holds the settings of a server, and of a group of it: see [With].
type Config struct {
	// Auth sets how callers authenticate: one of the authenticators has to accept them, or the answer is 401. The key of
	// gateway.Key is one more way. In a group it replaces the server's.
	Auth []auth.Authenticator
	// AllowAnonymous lets callers in without credentials, and still authenticates those that have some: actions that need it ask
	// with auth.Require. Also for a group whose server demands more.
	AllowAnonymous bool
	// Filters run before the authentication, the first of them outermost. Those of the server go around those of its groups. filter.CORS
	// belongs first, so that errors can be read by other sites too.
	Filters Filters
	// AfterAuth has the filters that run after the authentication, such as those that read who has signed in.
	AfterAuth Filters
	// Use lets calls and streams that come in here pass middlewares before those of the node, as hooks before and after a
	// call. Other calls of the same actions do not pass them.
	Use []sabir.Wrapper
	// RequestTimeout bounds every call, and what callers can ask for with X-Request-Timeout. Default: 30 seconds. Streams are not
	// bounded.
	RequestTimeout time.Duration
	// BodyLimit bounds the bodies of requests, in bytes. Default: 1 MiB. Uploads to streams are not bounded.
	BodyLimit int64
	// StrictFields refuses query parameters that an action does not have, and members of a body that its input has no field for,
	// with an error that names them. By default they are passed over, so that callers may be newer.
	StrictFields bool
	// Services has the services that a group takes, by name with or without version. Default: all.
	Services []string

	// Groups puts actions under prefixes such as "/v1", with settings of their own: those above. An action that a group takes is
	// reached through its groups only; all others are at the server's root.
	Groups map[string]Config

	// AllowUnauthenticated lets a server listen beyond this machine although every client may call it, for a public API.
	AllowUnauthenticated bool
	// MaxConnections bounds how many connections are open at once. Default: 10,000. Further ones wait to be accepted, and those
	// that have waited for their next request the longest, for a second at least, are closed for them.
	MaxConnections int
	// PerClient bounds what each client address holds open at once. Default: no bound.
	PerClient ClientLimits
	// TrustProxies names the proxies in front of the server, for all filters and handlers that ask for the client's address. Without it
	// that is the connection's, whatever the headers say, and the log warns of the first request that has passed a proxy.
	TrustProxies []netip.Prefix
	// ForwardedHeader names the one header that all trusted proxies set: "X-Forwarded-For" or "Forwarded" (RFC 7239). The
	// other one is not read. Default: "X-Forwarded-For".
	ForwardedHeader string
	// Forward lets callers reach public actions and streams of other nodes of the cluster through this one: those whose full names match one
	// of the patterns, such as "users.*" or "orders.get", in any version. Without it a server offers the actions of its own node only, so
	// that a new action somewhere in the cluster is not open to callers by that. "**" is all there are and will be.
	Forward []string
	// Operators has roles, and [KeyHolder] and [ThisMachine]. Callers that have one of them can ask what operators' tools ask: the actions of the
	// runtime's own services, such as $node.nodes and $channels.list, which the command line calls with --url. For all others, and without
	// Operators for everybody, these actions do not exist. $node.emit is not among them: events are emitted by actions, or by nodes of the
	// cluster.
	Operators []string
	// Events lets every caller of the server listen to events at GET /events, as Server-Sent Events or over a WebSocket: those whose names
	// match one of the patterns, such as "orders.*". The runtime's own events, whose names begin with "$", need a pattern that does too.
	// Callers emit none: an action that they may call can.
	Events []string
	// EventsFor has more patterns for callers that have a role, by the role. Others do not learn that there are these events.
	EventsFor map[string][]string
	// Mount puts existing handlers under prefixes. Their requests keep the whole path: use http.StripPrefix for one that wants
	// to be at the root. [Static] serves files, under "/" all that is nothing else. See [Mounted] for handlers that need to know the server.
	Mount map[string]http.Handler
	// Title, Version and Description of the API, for generated documents. By default they are the names of the services and
	// "0".
	Title, Version, Description string
}

// With gives the settings to the server of sabir.HTTP, or to [Handler]. Where it is given several times, lists add up; a setting that can
// be there once is an error of the start then.
func With(config Config) gateway.HTTPOption {
	streamgateway.Link() // for those of other nodes, see Forward
	given := option{config, options.Caller(), (*server).listen}
	return func(c *httpaccess.Config) { c.Options = append(c.Options, given) }
}

// option is a Config with the line at which it was given.
type option struct {
	config Config
	where  options.Site
	listen listener
}

// field tells whether a field was set.
type field struct {
	name string
	set  bool
}

// ofServer are the fields that a group cannot have, those that can be there once first.
func (c *Config) ofServer() (once, other []field) {
	once = []field{{"MaxConnections", c.MaxConnections != 0}, {"PerClient", c.PerClient != ClientLimits{}}, {"ForwardedHeader", c.ForwardedHeader != ""},
		{"Title", c.Title != ""}, {"Version", c.Version != ""}, {"Description", c.Description != ""}}
	return once, []field{{"Groups", c.Groups != nil}, {"AllowUnauthenticated", c.AllowUnauthenticated}, {"TrustProxies", c.TrustProxies != nil}, {"Forward", c.Forward != nil},
		{"Operators", c.Operators != nil}, {"Events", c.Events != nil}, {"EventsFor", c.EventsFor != nil}, {"Mount", c.Mount != nil}}
}

// take adds what an option sets.
func (s *settings) take(o option, given *options.Given) {
	c := &o.config
	s.listen = o.listen
	once, _ := c.ofServer()
	for _, f := range append(once, field{"Auth", len(c.Auth) > 0}, field{"RequestTimeout", c.RequestTimeout != 0}, field{"BodyLimit", c.BodyLimit != 0}) {
		if !f.set {
			continue
		}
		if err := given.Again(f.name+" of web.Config", o.where); err != nil {
			s.problems = append(s.problems, err)
		}
	}
	s.root.take(c)
	for prefix, group := range sorted(c.Groups) {
		s.group(prefix, &group)
	}
	s.open = s.open || c.AllowUnauthenticated
	s.proxies.From = append(s.proxies.From, c.TrustProxies...)
	if c.MaxConnections != 0 {
		s.limits.connections = c.MaxConnections
	}
	if c.PerClient != (ClientLimits{}) {
		s.clients = c.PerClient
	}
	for into, value := range map[*string]string{&s.proxies.Header: c.ForwardedHeader, &s.title: c.Title, &s.version: c.Version, &s.description: c.Description} {
		if value != "" {
			*into = value
		}
	}
	s.takeForward(c.Forward)
	s.takeOperators(c.Operators)
	if c.Events != nil {
		s.offerEvents("", c.Events)
	}
	for role, patterns := range sorted(c.EventsFor) {
		if role == "" {
			s.problem("EventsFor: the role is empty; Events is for every caller")
		}
		s.offerEvents(role, patterns)
	}
	for prefix, handler := range sorted(c.Mount) {
		if files, ok := handler.(interface {
			below(prefix string) http.Handler
		}); ok { // see Static: a program without it has no code for files
			handler = files.below(prefix)
		}
		s.mounts = append(s.mounts, mount{prefix, func(Site) (http.Handler, error) { return handler, nil }})
	}
}

// sorted goes through a map in the order of its keys.
func sorted[V any](m map[string]V) func(yield func(string, V) bool) {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

// take adds what a Config sets for the routes.
func (g *routeGroup) take(c *Config) {
	for _, f := range c.Filters {
		g.filters = append(g.filters, f.Filter())
	}
	for _, f := range c.AfterAuth {
		g.afterAuth = append(g.afterAuth, f.Filter())
	}
	g.middlewares = append(g.middlewares, c.Use...)
	g.services = append(g.services, c.Services...)
	if len(c.Auth) > 0 {
		g.authenticators = c.Auth
	}
	g.anonymous, g.strict = g.anonymous || c.AllowAnonymous, g.strict || c.StrictFields
	if c.RequestTimeout != 0 {
		g.timeout = c.RequestTimeout
	}
	if c.BodyLimit != 0 {
		g.body, g.bodyGiven = c.BodyLimit, true
	}
}

// group adds a group. What its settings leave open comes from the root, in inherit.
func (s *settings) group(prefix string, c *Config) {
	once, other := c.ofServer()
	for _, f := range append(once, other...) {
		if f.set {
			s.problem("the group %q has a setting that is for a whole server only: %s", prefix, f.name)
		}
	}
	g := &routeGroup{prefix: prefix}
	g.take(c)
	s.groups = append(s.groups, g)
}

func (s *settings) takeForward(patterns []string) {
	if patterns != nil && len(patterns) == 0 {
		s.problem("Forward: name the actions of other nodes, such as \"users.*\"")
	}
	for _, p := range patterns {
		if err := names.CheckPattern(p); err != nil {
			s.problem("Forward: %w", err)
		}
	}
	s.forward = append(s.forward, patterns...)
}

func (s *settings) takeOperators(roles []string) {
	if roles != nil && len(roles) == 0 || slices.Contains(roles, "") {
		s.problem("Operators: name the roles whose holders are operators")
	}
	s.operators = append(s.operators, roles...)
}

func (s *settings) offerEvents(role string, patterns []string) {
	if _, err := httpstream.NewEvents(patterns...); err != nil {
		s.problem("Events: %w", err)
	}
	s.events = append(s.events, offeredEvents{role, patterns})
}
