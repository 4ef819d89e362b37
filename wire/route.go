package wire

import (
	"encoding/binary"
	"sync/atomic"
)

// RouteKind is what is sent along a route. To a link, events are calls: they are requests and are answered.
type RouteKind uint8

// The kinds of routes. The numbers are part of the protocol.
const (
	CallRoute   RouteKind = 1
	StreamRoute RouteKind = 2
	EventRoute  RouteKind = 3
)

// maxRouteText bounds a route's name and the name of its codec.
const maxRouteText = 1 << 10

// Route is what calls, streams or events of one name are sent along in one direction of a link. It is declared once and
// then known by a number. A route says nothing of types: values bring their schema.
type Route struct {
	Kind        RouteKind
	Name, Codec string

	number   uint32 // 0: not yet told to the peer. Guarded by Link.mu for routes of this side
	target   Target // of a route that the peer declared
	sizeHint atomic.Int64
}

type routeKey struct {
	kind        RouteKind
	name, codec string
}

// Declare returns the route for what this side will send. The peer is told of it when it is first used; the same triple
// gives the same *Route.
//
// A peer accepts a bounded number of routes: one too many fails when it is used, with NameTooMuchDeclared.
func (l *Link) Declare(kind RouteKind, name, codec string) *Route {
	key := routeKey{kind, name, codec}
	if r, ok := l.routes.Load(key); ok {
		return r.(*Route)
	}
	r, _ := l.routes.LoadOrStore(key, &Route{Kind: kind, Name: name, Codec: codec})
	return r.(*Route)
}

// announce tells the peer of r where it does not know it yet. It runs under mu.
func (l *Link) announce(r *Route) error {
	if r.number != 0 {
		return nil
	}
	if len(r.Name) > maxRouteText || len(r.Codec) > maxRouteText {
		return &Failure{Code: codeResourceExhausted, Name: NameTooMuchDeclared, Node: l.config.Node, Message: "the name of a route has more than 1 KiB"}
	}
	if l.routesSent >= l.peer.Limits.Routes {
		return l.declaredTooMuch("routes", l.routesSent)
	}
	l.routesSent++
	r.number = uint32(l.routesSent)
	body := binary.AppendUvarint(nil, uint64(r.number))
	body = append(body, byte(r.Kind))
	body = appendString(body, r.Name)
	body = appendString(body, r.Codec)
	l.append(0, kindRoute, 0, body)
	return nil
}

// learnRoute is the peer's declaration of a route.
func (r *reader) learnRoute(body []byte) error {
	in := fields{left: body}
	number := in.number(r.link.config.Limits.Routes)
	route := &Route{Kind: RouteKind(in.byte()), Name: in.string(), Codec: in.string(), number: uint32(number)}
	switch {
	case in.bad || len(in.left) > 0 || len(route.Name) > maxRouteText || len(route.Codec) > maxRouteText:
		return protocolError("a route frame cannot be read or names too many routes")
	case route.Kind < CallRoute || route.Kind > EventRoute:
		return protocolError("a route of kind %d", route.Kind)
	case number != len(r.routes)+1:
		return protocolError("route %d declared after %d others", number, len(r.routes))
	}
	route.target = r.link.handler.Route(r.link, route)
	r.routes = append(r.routes, route)
	return nil
}

// route finds one that the peer declared: for streams, or for requests, which go along routes of calls and of events.
func (r *reader) route(number int, stream bool) (*Route, error) {
	if number < 1 || number > len(r.routes) {
		return nil, protocolError("route %d is not declared", number)
	}
	route := r.routes[number-1]
	if stream != (route.Kind == StreamRoute) {
		return nil, protocolError("route %d is of kind %d", number, route.Kind)
	}
	return route, nil
}
