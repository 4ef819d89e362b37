package web

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/httpstream"
	"github.com/sabir-go/sabir/internal/principal"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

// eventsPath is the path of the events.
const eventsPath = "/events"

// offeredEvents are events that callers may listen to.
type offeredEvents struct {
	role     string // that the caller needs; "" for none
	patterns []string
}

// eventPatterns returns the patterns of all offers that the function takes.
func (s *settings) eventPatterns(to func(role string) bool) (patterns []string) {
	for _, o := range s.events {
		if to(o.role) {
			patterns = append(patterns, o.patterns...)
		}
	}
	slices.Sort(patterns)
	return slices.Compact(patterns)
}

func anyRole(string) bool     { return true }
func noRole(role string) bool { return role == "" }

// eventsFor returns the patterns of the events that the caller of a request may listen to; nil for none.
func (s *settings) eventsFor(x *exchange.Exchange) []string {
	p, _ := x.Principal.(*auth.Principal)
	return s.eventPatterns(func(role string) bool { return role == "" || p != nil && p.HasAny(role) })
}

// listener serves a request for events: (*server).listen.
type listener func(s *server, w http.ResponseWriter, r *http.Request, x *exchange.Exchange, to *target)

func (s *server) listen(w http.ResponseWriter, r *http.Request, x *exchange.Exchange, to *target) {
	v := requestContext{Exchange: x, server: s, to: to, chain: to.chain}
	var events *httpstream.Events
	var offered []string
	if !v.admit(func() (err error) {
		if offered = s.settings.eventsFor(x); offered == nil {
			return s.notFound(x.Path)
		}
		if err = s.awaitRunning(r.Context()); err == nil {
			events, err = s.listening()
		}
		return err
	}) {
		write(w, r, x)
		return
	}
	s.headers(w, x)
	s.streams.ServeEvents(w, r, events, httpstream.Call{Events: offered, Context: principal.Context(sabir.WithRequestID(r.Context(), x.ID), x), Problem: v.problemOf(nil, v.logged()), Until: v.watchCredentials})
}

// startWait bounds the wait of a listener for the end of the start. An EventSource of a browser does not come again after an error, but a node
// may wait for services of others without end.
const startWait = 5 * time.Second

// awaitRunning waits until the node runs. While it starts no service can be added, and a start that is broken off waits for the requests that there are.
func (s *server) awaitRunning(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for (s.node.State() == "not started" || s.node.State() == "starting") && ctx.Err() == nil {
		select {
		case <-again.C:
		case <-ctx.Done():
		}
	}
	if state := s.node.State(); state != "running" {
		return sabir.Errorf(sabir.CodeUnavailable, sabir.ErrServiceUnavailable.Name, "the node is %s: listen again when it runs", state).AsRetryable()
	}
	return nil
}

// eventServers counts the servers of this process with events, because each needs a service of its own name.
var eventServers atomic.Int64

// listening returns the events of this server. The first call subscribes the node to them.
func (s *server) listening() (*httpstream.Events, error) {
	s.eventsLock.Lock()
	defer s.eventsLock.Unlock()
	if s.events != nil {
		return s.events, nil
	}
	events, err := httpstream.NewEvents(s.settings.eventPatterns(anyRole)...)
	if err != nil {
		return nil, err
	}
	if err := s.node.Add(context.Background(), events.Service("web-events-"+itoa(int(eventServers.Add(1))), s.node.ID())); err != nil {
		return nil, err
	}
	s.events = events
	return events, nil
}
