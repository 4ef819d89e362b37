package wire

import (
	"encoding/binary"
	"sync/atomic"
)

// A RouteKind says whether a route carries calls, streams or events. To a link, events are calls: they are requests and are
// answered.
type RouteKind uint8

// The kinds of routes. The numbers are part of the protocol.
const (
	CallRoute   RouteKind = 1
	StreamRoute RouteKind = 2
	EventRoute  RouteKind = 3
)

// maxRouteText bounds a route's name and the name of its codec.
const maxRouteText = 1 << 10

// A Route carries the calls or streams of one name in one direction of a link, or the events for one group. It is
// declared when it is used, and then known by a number until others need the number more. A route knows nothing of types:
// values bring their schema.
type Route struct {
	Kind        RouteKind
	Name, Codec string

	declared *numbered[routeKey] // of a route of this side, nil before its first use. Guarded by Link.mu
	target   Target              // of a route that the peer declared
	sizeHint atomic.Int64        // the length of the last value, or 0 where none was longer than keepCall; see noteSize
}

// noteSize remembers how long the route's last value was, for the next Buf. Where small values follow a large one the hint must go down
// again: with one of a mebibyte among two hundred small ones, each small one took a buffer of a mebibyte. A small value is noted only
// after a large one, so that routes of small values, which nearly all are, write to nothing that their calls share.
func (r *Route) noteSize(size int) {
	if size > keepCall || r.sizeHint.Load() > keepCall {
		r.sizeHint.Store(int64(size))
	}
}

type routeKey struct {
	kind        RouteKind
	name, codec string
}

// Declare returns a route for what this side will send. The link keeps nothing of it: it is declared to the peer when it is used
// and the peer does not know it, or does not any more because more routes than its Limits.Routes were used since.
//
// The name of an EventRoute is that of the group that the events are for, or whatever else the two owners agree on; each event
// brings its own name in Meta.Event. A name of more than 1 KiB fails when it is used, with NameTooMuchDeclared.
func (l *Link) Declare(kind RouteKind, name, codec string) *Route {
	return &Route{Kind: kind, Name: name, Codec: codec}
}

// checkRoute refuses a route that the peer would not accept.
func (l *Link) checkRoute(r *Route) error {
	if len(r.Name) > maxRouteText || len(r.Codec) > maxRouteText {
		return &Failure{Code: codeResourceExhausted, Name: NameTooMuchDeclared, Node: l.config.Node, Message: "the name of a route has more than 1 KiB"}
	}
	return nil
}

// numberOf is the number of r for the frame that is appended next, and declares r to the peer where it does not know it. It runs
// under mu.
func (l *Link) numberOf(r *Route) uint32 {
	if n := r.declared; n != nil && n.number != 0 {
		l.routes.used(n, l.frame)
		return n.number
	}
	n, declare := l.routes.use(routeKey{r.Kind, r.Name, r.Codec}, l.frame) // never nil: a frame has one route
	r.declared = n
	if declare {
		body := binary.AppendUvarint(nil, uint64(n.number))
		body = append(body, byte(r.Kind))
		body = appendString(body, r.Name)
		body = appendString(body, r.Codec)
		l.append(0, kindRoute, 0, body)
	}
	return n.number
}

// learnRoute is the peer's declaration of a route: with the next number, or with one that another route had. What came along
// that one goes on with it.
func (r *reader) learnRoute(body []byte) error {
	in := fields{left: body}
	number := in.number(r.link.config.Limits.Routes)
	route := &Route{Kind: RouteKind(in.byte()), Name: in.string(), Codec: in.string()}
	switch {
	case in.bad || len(in.left) > 0 || len(route.Name) > maxRouteText || len(route.Codec) > maxRouteText:
		return protocolError("a route frame cannot be read or has a number above the limit")
	case route.Kind < CallRoute || route.Kind > EventRoute:
		return protocolError("a route of kind %d", route.Kind)
	case number < 1 || number > len(r.routes)+1:
		return protocolError("route %d declared after %d others", number, len(r.routes))
	}
	route.target = r.link.handler.Route(r.link, route)
	if number > len(r.routes) {
		r.routes = append(r.routes, route)
	} else {
		r.routes[number-1] = route
	}
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
