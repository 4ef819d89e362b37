package web

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

// settings is what the options of a face say.
type settings struct {
	root     door
	tools    door // the root as tools find it, whose callers must show who they are where that can be asked
	groups   []*door
	mounts   []mount
	events   []string // patterns
	open     bool
	limits   limits
	problems []error

	title, version, description string // of the API
}

// door is a way in: the face's root, or a group.
type door struct {
	prefix         string            // "" or "/v1"
	services       []string          // nil for all
	filters        []exchange.Filter // one without a name stands for the authentication
	middlewares    []sabir.Middleware
	authenticators []auth.Authenticator
	anonymous      bool
	decided        bool // who may come in, by Auth or Anonymous
	timeout        time.Duration
	body           int64
	strict         bool

	steps []exchange.Filter // all that requests pass, see steps.go
	shows bool              // to some that are not the face's own
	open  []exchange.Filter // those of handlers that check by themselves who calls
}

// limits bounds what callers can make the face hold or wait for.
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
		root: door{timeout: 30 * time.Second, body: 1 << 20},
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

// newSettings reads the options. The error tells all that is wrong with them.
func newSettings(options []any) (*settings, error) {
	s := defaultSettings()
	for i := range options {
		switch o, ok := options[i].(option); {
		case !ok:
			s.foreign(options[i])
		case o.door != nil:
			o.door(&s.root)
		default:
			o.face(s)
		}
	}
	s.check()
	return s, errors.Join(s.problems...)
}

func (s *settings) problem(format string, args ...any) {
	s.problems = append(s.problems, fmt.Errorf("web: "+format, args...))
}

// foreign takes what is no option of the list in options.go.
func (s *settings) foreign(o any) {
	if m, ok := o.(mount); ok {
		s.mounts = append(s.mounts, m)
		return
	}
	s.problem("an option of another package: %T", o)
}

// group adds a group, whose settings are those of the face until its own options say otherwise.
func (s *settings) group(prefix string, options []any) {
	d := &door{prefix: prefix}
	for _, o := range options {
		if o, ok := o.(option); ok && o.door != nil {
			o.door(d)
		} else {
			s.problem("the group %q has an option that is for a whole face only: %v", prefix, o.name)
		}
	}
	s.groups = append(s.groups, d)
}

// inherit gives each group what the face says and it does not.
func (s *settings) inherit() {
	for _, d := range s.groups {
		outer := slices.Clone(s.root.filters)
		if d.decided {
			outer = slices.DeleteFunc(outer, isAuth)
		} else {
			d.anonymous = s.root.anonymous
		}
		if d.authenticators == nil {
			d.authenticators = s.root.authenticators
		}
		d.filters = append(outer, d.filters...)
		d.middlewares = slices.Concat(s.root.middlewares, d.middlewares)
		if d.timeout == 0 {
			d.timeout = s.root.timeout
		}
		if d.body == 0 {
			d.body = s.root.body
		}
		d.strict = d.strict || s.root.strict
	}
}

func (s *settings) check() {
	if !s.root.decided {
		s.root.filters = slices.Insert(s.root.filters, 0, authHere) // of the face's key
	}
	s.inherit()
	for _, d := range s.doors() {
		if d.timeout <= 0 || d.body <= 0 {
			s.problem("the timeout %v and the body limit %d of %q must be above zero", d.timeout, d.body, d.prefix)
		}
		for i, f := range d.filters {
			if f.Problem != nil {
				s.problem("%w", f.Problem)
			}
			if f.Before == nil && f.After == nil && f.Preflight == nil && !isAuth(f) {
				s.problem("filter %d of %q, %q, does nothing: it was not made as it should be", i+1, d.prefix, f.Name)
			}
		}
	}
	for _, d := range s.groups {
		s.checkPrefix("Group", d.prefix)
	}
	for i, m := range s.mounts {
		if m.prefix != "/" {
			s.checkPrefix("Mounted", m.prefix)
		}
		if slices.ContainsFunc(s.mounts[:i], func(other mount) bool { return other.prefix == m.prefix }) {
			s.problem("two handlers are mounted at %q", m.prefix)
		}
	}
	if s.limits.connections < 1 {
		s.problem("MaxConnections(%d): want at least 1", s.limits.connections)
	}
}

// doors is the face's root and its groups.
func (s *settings) doors() []*door { return append([]*door{&s.root}, s.groups...) }

func (s *settings) checkPrefix(what, prefix string) {
	if !strings.HasPrefix(prefix, "/") || strings.HasSuffix(prefix, "/") || strings.Contains(prefix, "//") || strings.ContainsAny(prefix, "{}?#% ") || prefix == "" {
		s.problem("%s(%q): want a path such as \"/v1\", without a slash at its end", what, prefix)
	}
}

// takes tells whether the door takes the action.
func (d *door) takes(a *sabir.Action) bool {
	if d.services == nil {
		return true
	}
	_, short, versioned := strings.Cut(a.Service, ".")
	return slices.Contains(d.services, a.Service) || versioned && a.Version > 0 && slices.Contains(d.services, short)
}

// guarded tells whether the door lets only callers in who show who they are.
func (d *door) guarded() bool { return len(d.authenticators) > 0 && !d.anonymous }

// authHere stands, among a door's filters, for the authentication.
var authHere = exchange.Filter{Name: ""}

// decide notes where among the filters the authentication is: where it was decided last.
func (d *door) decide() {
	d.filters = append(slices.DeleteFunc(d.filters, isAuth), authHere)
	d.decided = true
}

func isAuth(f exchange.Filter) bool {
	return f.Name == "" && f.Before == nil && f.After == nil && f.Preflight == nil
}
