package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sort"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/isolate"
	"github.com/sabir-go/sabir/internal/principal"
	"github.com/sabir-go/sabir/web/exchange"
)

// mounted is a handler under a prefix.
type mounted struct {
	prefix  string
	handler http.Handler
	public  bool // it authenticates callers by itself
}

// mount makes the handlers that were mounted, those with the longest prefix first.
func (s *server) mount() error {
	for _, m := range s.settings.mounts {
		mountedAt := Site{Node: s.node, Prefix: m.prefix, Keys: s.config.Keys, Loopback: s.onlyLocal, Open: s.settings.open,
			API: func() api.API { return s.api() }, Body: s.settings.root.body, Client: s.clientOf, Handler: s}
		h, err := m.make(mountedAt)
		if err != nil {
			return fmt.Errorf("mounting %s: %w", m.prefix, err)
		}
		if h == nil {
			return fmt.Errorf("mounting %s: there is no handler", m.prefix)
		}
		own, _ := h.(interface{ Public() bool })
		s.mounts = append(s.mounts, &mounted{m.prefix, h, own != nil && own.Public()})
	}
	sort.SliceStable(s.mounts, func(i, j int) bool { return len(s.mounts[i].prefix) > len(s.mounts[j].prefix) }) // slices.SortStableFunc takes 10 KB of the program
	return nil
}

// mounted is the handler for a path, or nil.
func (s *server) mounted(path string) *mounted {
	for _, m := range s.mounts {
		if under(path, m.prefix) {
			return m
		}
	}
	return nil
}

// groupOf returns the group of a path: that with the longest prefix above it, otherwise the root.
func (s *server) groupOf(path string) *routeGroup {
	best := &s.settings.root
	for _, d := range s.settings.groups {
		if under(path, d.prefix) && len(d.prefix) > len(best.prefix) {
			best = d
		}
	}
	return best
}

// serveMounted runs the filters of the root and hands the request to a mounted handler.
func (s *server) serveMounted(w http.ResponseWriter, r *http.Request, x *exchange.Exchange, m *mounted) {
	root := &s.settings.root
	chain := root.chain
	if m.public {
		chain = root.open
	}
	v := requestContext{Exchange: x, server: s, to: &target{routeGroup: root, path: m.prefix}, chain: chain}
	if p := s.spokenIn(r); p != nil { // such as the health of gRPC, whose clients read no documents
		if err := v.pass(nil); err != nil {
			s.refuse(w, r, &v, p, err)
			return
		}
	} else if !v.admit(nil) {
		if c, ok := m.handler.(interface{ Challenge(*http.Request) string }); ok && x.Status == http.StatusUnauthorized {
			if challenge := c.Challenge(r); challenge != "" {
				x.Answer.Set("WWW-Authenticate", challenge)
			}
		}
		m.translate(x)
		doNotWaitForBody(w, r)
		write(w, r, x)
		return
	}
	s.headers(w, x)
	a := &responseWriter{w: w}
	r = r.WithContext(principal.Context(r.Context(), x))
	r.Header.Set(requestIDHeader, x.ID) // for its lines in the log, and for the requests that it makes for the client
	err := isolate.Do(func() error {
		m.handler.ServeHTTP(a.writer(), r)
		return nil
	})
	switch {
	case err == nil:
		return
	case errors.Is(err, http.ErrAbortHandler):
		panic(http.ErrAbortHandler)
	}
	v.fail(err)
	if a.started {
		panic(http.ErrAbortHandler) // nothing else shows that this is not the whole of the answer
	}
	clear(w.Header()) // they were for another answer
	m.translate(x)
	write(w, r, x)
}

// translate puts a problem document into the form of the handler's protocol, where it has one.
func (m *mounted) translate(x *exchange.Exchange) {
	if h, ok := m.handler.(interface{ Refused(document []byte) []byte }); ok && x.Type == problemType {
		x.Out, x.Type = h.Refused(x.Out), jsonType
	}
}

// stopMounted stops the mounted handlers that have a method for that. It returns when they have, or the context has ended.
func (s *server) stopMounted(ctx context.Context) error {
	errs := make(chan error, len(s.mounts))
	for _, m := range s.mounts {
		go isolate.Run(func() error {
			if h, ok := m.handler.(interface{ Stop(context.Context) error }); ok {
				return h.Stop(ctx)
			}
			return nil
		}, func(err error) { errs <- err })
	}
	var all []error
	for range s.mounts {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}
