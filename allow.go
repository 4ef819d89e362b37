package sabir

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/wire"
)

// Allow is an option of services, actions, streams and event handlers that says who may call them, open them or send them events; that of a
// service counts for all that the service has. All of its conditions must hold. Of several Allow in one place one is enough; where a service
// and its action have some, both places must allow. Without any, all may that can reach it.
//
//	billing := sabir.NewService("billing", sabir.Allow{Nodes: []string{"orders-*", "spiffe://example.org/gateway"}})
//	sabir.Handle(billing, "refund", refund, sabir.Allow{Services: []string{"support"}, Audited: true})
//
// A caller that is refused gets [ErrCallerRefused] before its input is validated; an event that is refused is dropped. A node that joins
// a cluster with such rules does not start unless nodes prove their names, see [cluster.Config.TLS] and [cluster.Config.NodeKeys]: without that nobody
// could be told from anybody else. An Allow without Nodes and Services, or with a list that is empty, is an error of the service's start.
type Allow struct {
	// Nodes holds for what comes from a node with one of these names: a URI of its certificate, such as a SPIFFE ID, a DNS name, or without
	// those its common name; or its NodeID, which counts with [cluster.Config.NodeKeys] only. "*" in a pattern stands for any text without a slash.
	// A node's own services pass. Default: any node.
	//
	// Certificates prove names over tls:// and quic:// only: over other transports TLS may end at a proxy or a broker, so no node has a name
	// there without [cluster.Config.NodeKeys], and a node with such a rule does not start.
	Nodes []string
	// Services holds for what a handler of one of these services has called or emitted, with the context that it was given; by full name, or
	// by name for any version. The calling node vouches for that by its name, so name the nodes too where not each may speak for each
	// service. Default: any service, and what no service calls.
	Services []string
	// Audited logs each decision of the rule, allowed or refused, at level Info or Warn: principal, node, its names, service, action, verdict.
	Audited bool
}

// problem tells why the rule cannot hold; "" for one that can.
func (r *Allow) problem() string {
	for _, p := range r.Nodes {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			return "Allow: Nodes has the pattern \"" + p + "\", which takes no name"
		}
	}
	switch {
	case r.Nodes != nil && len(r.Nodes) == 0 || r.Services != nil && (len(r.Services) == 0 || slices.Contains(r.Services, "")):
		return "Allow: Nodes and Services need names"
	case r.Nodes == nil && r.Services == nil:
		return "Allow says of nobody that they may: give it Nodes or Services"
	}
	return ""
}

func (r Allow) applyService(s *Service) {
	if bad := r.problem(); bad != "" {
		s.problem(s.where, "%s", bad)
	}
	s.rules = append(s.rules, r)
}

func (r Allow) applyAction(d *definition) {
	if bad := r.problem(); bad != "" {
		d.problems = append(d.problems, &Error{Code: CodeInvalidArgument, Name: nameBadService, Message: d.where.String() + ": " + bad})
	}
	d.rules = append(d.rules, r)
}

func (r Allow) applyEvent(d *eventDefinition) {
	if bad := r.problem(); bad != "" {
		d.problems = append(d.problems, &Error{Code: CodeInvalidArgument, Name: nameBadService, Message: d.where.String() + ": " + bad})
	}
	d.rules = append(d.rules, r)
}

// allowed returns the middleware that holds the rules of a service and of one of its members; nil where there are none, so that
// nothing is checked then. It is the outermost one: who is refused learns nothing from those inside.
func (n *Node) allowed(service, own []Allow) []Middleware {
	if service == nil && own == nil {
		return nil
	}
	check := func(ctx context.Context, what string) bool {
		from := callerOf(ctx)
		return n.decide(ctx, service, from, what) && n.decide(ctx, own, from, what)
	}
	call := func(a *Action, next Handler) Handler {
		if n.withoutIdentities() {
			a.Reject("its rules (sabir.Allow) need nodes that prove their names: " + wantNames)
		}
		return func(ctx context.Context, r *Request) error {
			if !check(ctx, a.Name) {
				return &Error{Code: CodePermissionDenied, Name: nameCallerRefused, Node: n.id, Message: a.Name + " is not for this caller"}
			}
			return next(ctx, r)
		}
	}
	return []Middleware{{Name: "sabir.Allow", Local: call, Stream: call, Event: func(_ *Subscription, next EventHandler) EventHandler {
		return func(ctx context.Context, e *Event) error {
			if !check(ctx, e.Name) {
				return nil
			}
			return next(ctx, e)
		}
	}}}
}

// withoutIdentities reports whether the node joins a cluster whose links prove no names.
func (n *Node) withoutIdentities() bool { return len(n.joins) > 0 && !n.joins[0].LinksProveNames() }

const wantNames = "join over tls:// or quic:// with cluster.Config.TLS that demands certificates of other nodes, or with cluster.Config.NodeKeys"

// decide reports whether one of the rules takes the caller, and logs that where one of them is audited.
func (n *Node) decide(ctx context.Context, rules []Allow, from caller, what string) bool {
	allowed := rules == nil
	audited := false
	for i := range rules {
		if rules[i].takes(from) {
			allowed, audited = true, rules[i].Audited
			break
		}
		audited = audited || rules[i].Audited
	}
	switch {
	case audited && allowed:
		n.log.InfoContext(ctx, "audit", from.attrs(ctx, n, what, "allowed")...)
	case audited:
		n.log.WarnContext(ctx, "audit", from.attrs(ctx, n, what, "refused")...)
	}
	return allowed
}

func (r *Allow) takes(from caller) bool {
	if r.Nodes != nil && from.link != nil && !identity.Takes(r.Nodes, from.link.Peer().Names) {
		return false
	}
	if r.Services == nil {
		return true
	}
	if from.link != nil && len(from.link.Peer().Names) == 0 {
		return false // nobody vouches for what it says
	}
	_, short, _ := strings.Cut(from.service, ".")
	return from.service != "" && (slices.Contains(r.Services, from.service) || versioned(from.service) && slices.Contains(r.Services, short))
}

// versioned reports whether the full name of a service begins with a version: "v2.users".
func versioned(service string) bool {
	version, _, found := strings.Cut(service, ".")
	return found && len(version) > 1 && version[0] == 'v' && strings.Trim(version[1:], "0123456789") == ""
}

// caller describes the origin of a call, a stream or an event.
type caller struct {
	link    *wire.Link // nil for this node
	service string     // full name; "" for none
}

// callerOf finds the caller of the call that ctx was made for.
func callerOf(ctx context.Context) (from caller) {
	c := callOf(ctx)
	if c.remote {
		from.link, _ = c.Context.Value(wire.LinkKey{}).(*wire.Link)
	}
	if c.parent != nil {
		from.service = c.parent.op.service
	}
	return from
}

func (from caller) attrs(ctx context.Context, n *Node, what, verdict string) []any {
	node, names := n.id, []string(nil)
	if from.link != nil {
		node, names = from.link.Peer().Node, from.link.Peer().Names
	}
	var principal struct {
		Subject string `json:"sub"`
	}
	if text := metadataOf(ctx)[identity.PrincipalKey]; text != "" {
		_ = decodeJSON([]byte(text), &principal) // without a subject it is none
	}
	return []any{"principal", principal.Subject, "node", node, "names", names, "service", from.service, "action", what, "verdict", verdict,
		"request_id", requestIDOf(ctx)}
}
