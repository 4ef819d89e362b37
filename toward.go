package sabir

import (
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/option"
)

// Toward puts middlewares around the calls that this node sends to other nodes for actions whose full names the pattern takes, such as a
// breaker and a cache for one dependency:
//
//	sabir.NewNode(
//		sabir.Toward("users.*", policy.Timeout(time.Second), policy.Breaker{}),
//		sabir.Toward("rates.today", policy.Cached{Cache: rates, TTL: time.Minute}))
//
// They are inside those of [Use]; of several options whose patterns take an action the first is the outermost. Calls of an action that stay on
// this node, events and streams pass them by. A setting that cannot work refuses the calls of the action, with the reason.
func Toward(pattern string, wrappers ...Wrapper) NodeOption {
	where := option.Caller()
	return nodeOption(func(n *Node) { n.toward = append(n.toward, toward{pattern, middlewaresOf(wrappers), where}) })
}

// toward is one use of the option Toward.
type toward struct {
	pattern     string
	middlewares []Middleware
	where       option.Site
}

// composeToward wraps the calls of another node's action in the middlewares for it: those of Use outside, then those of Toward.
func (n *Node) composeToward(action *Action, send Handler) (chain Handler, wrapped bool) {
	var list []Middleware
	list = append(list, n.middlewares...)
	for _, t := range n.toward {
		if names.Match(t.pattern, action.Name) {
			list = append(list, t.middlewares...)
		}
	}
	return composeCall(action, send, list, remoteLayer)
}

// checkToward finds patterns that can be none, and middlewares that would do nothing.
func (n *Node) checkToward() error {
	for _, t := range n.toward {
		if bad := names.PatternFault(t.pattern); bad != "" {
			return Errorf(CodeInvalidArgument, nameBadOption, "%s: Toward(%q): the pattern %s", t.where, t.pattern, bad)
		}
		for _, m := range t.middlewares {
			if m.Remote == nil {
				return Errorf(CodeInvalidArgument, nameBadOption, "%s: Toward(%q): the middleware %q wraps no calls to other nodes: it has no Remote", t.where, t.pattern, m.Name)
			}
		}
	}
	return nil
}
