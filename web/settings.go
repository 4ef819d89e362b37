package web

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/internal/protocol"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

// settings is the result of the options of a server.
type settings struct {
	root      routeGroup
	groups    []*routeGroup
	mounts    []mount
	protocols []protocol.Protocol
	operators []string // roles, see Operators
	forward   []string // patterns of actions of other nodes
	events    []offeredEvents
	listen    listener // nil without With, so that a program without it links nothing for events
	open      bool
	proxies   exchange.Proxies
	clients   ClientLimits
	limits    limits
	problems  []error

	title, version, description string // of the API
}

// routeGroup is the root of a server or a group of it.
type routeGroup struct {
	prefix         string            // "" or "/v1"
	services       []string          // nil for all
	filters        []exchange.Filter // before the authentication
	afterAuth      []exchange.Filter
	middlewares    []sabir.Wrapper
	authenticators []auth.Authenticator
	anonymous      bool
	timeout        time.Duration
	body           int64
	bodyGiven      bool // body is what BodyLimit says, here or at the root
	strict         bool

	chain     []exchange.Filter // filters that requests pass, see assemble
	needsKeep bool              // chain has filters of others, which may keep strings of the exchange
	open      []exchange.Filter // chain without authentication, for handlers that do that themselves
}

// limits bounds what clients can make the server hold or wait for.
type limits struct {
	headers     int           // bytes of a request's headers
	connections int           // open at once; further ones wait to be accepted
	readHeaders time.Duration // from the first byte of a request, or its connection, to the end of its headers
	readBody    time.Duration // from the same moment to the end of the body
	write       time.Duration // that a caller may leave what is written to it unread
	idle        time.Duration // between two requests of a connection
	drain       time.Duration // that a stopping node still answers on connections that are open, at the most
	quiet       time.Duration // without a request, after which they have all learned that it stops
}

func defaultSettings() *settings {
	return &settings{
		root: routeGroup{timeout: 30 * time.Second, body: 1 << 20},
		limits: limits{
			headers:     64 << 10,
			connections: 10_000,
			readHeaders: 5 * time.Second,
			readBody:    30 * time.Second,
			write:       90 * time.Second, // reading the body, the call, and as much again
			idle:        2 * time.Minute,
			drain:       250 * time.Millisecond,
			quiet:       30 * time.Millisecond,
		},
	}
}

// newSettings reads the options. The error lists everything that is wrong with them.
func newSettings(config httpaccess.Config) (*settings, error) {
	s := defaultSettings()
	s.problems = config.Problems
	for _, given := range config.Options {
		if o, ok := given.(option); ok {
			s.take(o, &config.Given)
		} else {
			s.foreign(given)
		}
	}
	s.check()
	return s, errors.Join(s.problems...)
}

func (s *settings) problem(format string, args ...any) {
	s.problems = append(s.problems, fmt.Errorf("web: "+format, args...))
}

// foreign takes options that are not of type option.
func (s *settings) foreign(o any) {
	switch o := o.(type) {
	case mount:
		s.mounts = append(s.mounts, o)
		return
	case protocol.Protocol:
		s.protocols = append(s.protocols, o)
		return
	}
	s.problem("an option of another package: %T", o)
}

// inherit completes the groups from the root.
func (s *settings) inherit() {
	for _, d := range s.groups {
		d.filters, d.afterAuth = slices.Concat(s.root.filters, d.filters), slices.Concat(s.root.afterAuth, d.afterAuth)
		if d.authenticators == nil && !d.anonymous {
			d.anonymous = s.root.anonymous
		}
		if d.authenticators == nil {
			d.authenticators = s.root.authenticators
		}
		d.middlewares = slices.Concat(s.root.middlewares, d.middlewares)
		if d.timeout == 0 {
			d.timeout = s.root.timeout
		}
		if d.body == 0 {
			d.body, d.bodyGiven = s.root.body, s.root.bodyGiven
		}
		d.strict = d.strict || s.root.strict
	}
}

func (s *settings) check() {
	if err := s.proxies.Check(); err != nil {
		s.problem("TrustProxies: %w", err)
	}
	if err := s.clients.check(); err != nil {
		s.problem("PerClient: %w", err)
	}
	s.inherit()
	for _, d := range s.routeGroups() {
		if d.timeout <= 0 || d.body <= 0 {
			s.problem("the timeout %v and the body limit %d of %q must be above zero", d.timeout, d.body, d.prefix)
		}
		for i, f := range slices.Concat(d.filters, d.afterAuth) {
			switch {
			case f.Problem != nil:
				s.problem("%w", f.Problem)
			case f.Before == nil && f.After == nil && f.Preflight == nil:
				s.problem("filter %d of %q, %q, does nothing: it was not made as it should be", i+1, d.prefix, f.Name)
			case f.ReadsPrincipal && i < len(d.filters):
				s.problem("filter %q reads who has signed in, and stands before the authentication: put it into AfterAuth of web.Config", f.Name)
			}
		}
	}
	for _, d := range s.groups {
		s.checkPrefix("Groups", d.prefix)
	}
	for i, m := range s.mounts {
		if m.prefix != "/" {
			s.checkPrefix("Mounted", m.prefix)
		}
		if slices.ContainsFunc(s.mounts[:i], func(other mount) bool { return other.prefix == m.prefix }) {
			s.problem("two handlers are mounted at %q", m.prefix)
		}
		switch {
		case m.prefix == "/health", m.prefix == "/ready":
			s.problem("Mounted(%q): the server itself answers there; give checks of your own to sabir.Ready, or mount the handler elsewhere", m.prefix)
		case m.prefix == "/$api", m.prefix == eventsPath && len(s.events) > 0:
			s.problem("Mounted(%q): the server itself answers there; mount the handler elsewhere", m.prefix)
		}
	}
	if s.limits.connections < 1 {
		s.problem("MaxConnections %d: want at least 1", s.limits.connections)
	}
}

// routeGroups lists the root and the groups.
func (s *settings) routeGroups() []*routeGroup { return append([]*routeGroup{&s.root}, s.groups...) }

func (s *settings) checkPrefix(what, prefix string) {
	if !strings.HasPrefix(prefix, "/") || strings.HasSuffix(prefix, "/") || strings.Contains(prefix, "//") || strings.ContainsAny(prefix, "{}?#% ") || prefix == "" {
		s.problem("%s(%q): want a path such as \"/v1\", without a slash at its end", what, prefix)
	}
}

// takes reports whether the group takes the action.
func (g *routeGroup) takes(a *sabir.Action) bool {
	if g.services == nil {
		return true
	}
	_, short, versioned := strings.Cut(a.Service, ".")
	return slices.Contains(g.services, a.Service) || versioned && a.Version > 0 && slices.Contains(g.services, short)
}

// guarded reports whether the group admits only callers that authenticate.
func (g *routeGroup) guarded() bool { return len(g.authenticators) > 0 && !g.anonymous }
