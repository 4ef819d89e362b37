// Package gateway has what the author of a gateway needs besides package sabir. A gateway lets calls into a node from outside
// the cluster: package web is one for HTTP, a bridge to another framework is one. It is a value with three methods that
// sabir.WithGateway gives to a node:
//
//	func (b *bridge) serve(request message) ([]byte, error) {
//		action := b.node.Action(request.action)
//		if action == nil || !action.Public() {
//			return nil, sabir.ErrActionNotFound
//		}
//		in := gateway.Inbound{Context: request.ctx, RequestID: request.id, Limit: 30 * time.Second}
//		return action.ServeJSON(in, nil, request.body)
//	}
//
//	node := sabir.NewNode(sabir.WithGateway(func(n *sabir.Node) (gateway.Gateway, error) { return &bridge{node: n}, nil }))
//
// Programs that serve services by gateways that exist do not import it.
package gateway

import (
	"context"
	"crypto/tls"
	"time"

	"github.com/sabir-go/sabir/internal/httpaccess"
	"github.com/sabir-go/sabir/internal/option"
)

// Gateway is a way into a node from outside, such as HTTP: started after the services, stopped before them.
type Gateway interface {
	// Name identifies it in errors and logs: "http :3000".
	Name() string
	// Start returns when calls can come in.
	Start(ctx context.Context) error
	// Stop takes no more calls and waits for those in flight, or for the context.
	Stop(ctx context.Context) error
}

// Inbound is a call that came in from outside the cluster, as a [Gateway] hands it over with the method ServeJSON of
// sabir.Action.
type Inbound struct {
	// Context ends when the caller no longer waits. Besides that only its Value method is used.
	Context   context.Context
	RequestID string            // see sabir.WithRequestID; copied
	Metadata  map[string]string // see sabir.WithMetadata; must not be changed later
	// Level is how many calls, in nodes of any kind, the call is nested in; 0 for none. Where it reaches MaxDepth of sabir.Limits the call fails, so
	// that circles through other frameworks end too. CalledBy is the action or event whose handler made the call; "" for none.
	Level    int
	CalledBy string
	// From is the node, of another framework, that made the call or emitted the event; "" for none. Groups are those that the emitter of an event
	// chose; nil for all.
	From   string
	Groups []string
	// Limit bounds the time of the call, 0 for no limit. At its end the handler's context ends and the gateway's caller is
	// answered, even when the handler does not return.
	Limit time.Duration
	// Watched means that the gateway answers its caller at the limit by itself, on another goroutine than the one that called
	// ServeJSON; the handler then runs on that one and may keep it longer. It spares a change of goroutines for each call.
	Watched bool
	// Answer gets what the handler answers beside its output; nil for a gateway that cannot send it.
	Answer Answer
	// Strict refuses an input with members that its type has no field for. For an action of another node it does nothing.
	Strict bool
	// Borrowed answers what Context and the rest do not, but only until ServeJSON returns, so that it can be something that the gateway
	// uses again. Its Value method is called by any goroutine that has the call's context, and perhaps still in the moment
	// after the return: it must be safe at all times. nil for none.
	Borrowed interface{ Value(key any) any }
}

// HTTPOption is an option of sabir.HTTP: [Key], [TLS], and those of package web.
type HTTPOption func(*httpaccess.Config)

// Key asks every caller for "Authorization: Bearer <key>". Use at least 16 random characters. Old ones are accepted too, while callers change
// from one key to the next.
func Key(key string, old ...string) HTTPOption {
	where := option.Caller()
	return func(c *httpaccess.Config) {
		c.Problem(c.Given.Again("gateway.Key", where))
		c.Keys = httpaccess.NewKeys(append([]string{key}, old...)...)
	}
}

// TLS serves HTTPS. With client certificates that the configuration demands, these say who may call.
func TLS(config *tls.Config) HTTPOption {
	where := option.Caller()
	return func(c *httpaccess.Config) {
		c.Problem(c.Given.Again("gateway.TLS", where))
		c.TLS = config
	}
}

// CacheNote is the key under which a middleware that keeps answers annotates an action with how long, a time.Duration: see the
// method Annotate of sabir.Action.
const CacheNote = noteName("cache")

type noteName string
