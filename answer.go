package sabir

import (
	"context"
	"net/http"
	"slices"

	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/answer"
	"github.com/sabir-go/sabir/internal/wire"
	"github.com/sabir-go/sabir/introspect"
)

// Status declares a status of HTTP with which the action answers instead of 200, and the headers that come with it:
//
//	var Place = sabir.NewAction[Order, Placed]("orders.place", sabir.Route("POST", "/orders"), sabir.Status(201, "Location"))
//
// An action may have several. The first one is what its answers have where the handler says nothing; it chooses another by
// [Answer]. An answer with 204, 205 or 304 has no body. Documents and generated clients show them all. Statuses are from 200 to 399;
// what errors have is their code's, see [Code.HTTPStatus]. For other protocols than HTTP, and streams, they do nothing.
func Status(status int, headers ...string) ActionOption {
	return actionOption(func(d *definition) {
		d.statuses = append(d.statuses, introspect.Status{Status: status, Headers: headers})
	})
}

// checkStatuses says what is wrong with the statuses of an action.
func (a *Action) checkStatuses(def *definition) error {
	for i, s := range def.statuses {
		switch {
		case s.Status < 200 || s.Status > 399 || http.StatusText(s.Status) == "":
			return badAnnotation(def, "Status(%d): want a status of success or redirection, from 200 to 399; an error has the status of its code", s.Status)
		case def.stream:
			return badAnnotation(def, "Status(%d): a stream has no status of its own", s.Status)
		case slices.ContainsFunc(def.statuses[:i], func(other introspect.Status) bool { return other.Status == s.Status }):
			return badAnnotation(def, "Status(%d) is given twice", s.Status)
		}
		for _, name := range s.Headers {
			if err := answer.CheckHeader(name, ""); err != nil {
				return badAnnotation(def, "Status(%d): %w", s.Status, err)
			}
		}
	}
	return nil
}

// declares reports whether the action may answer with the status.
func (a *Action) declares(status int) bool {
	return slices.ContainsFunc(a.Statuses, func(s introspect.Status) bool { return s.Status == status })
}

// Answer takes the status, the headers and the trailers that a handler answers beside its output, to the caller from outside that ctx belongs
// to. Where no caller could see them, as in a call that another handler or a program makes, it takes everything and does nothing.
//
//	return order, sabir.Answer(ctx).SetHeader("Location", "/orders/"+order.ID)
//
// SetStatus chooses one of the action's statuses. The error is that the action does not declare it: see [Status]. An answer that is an error
// has the status of its code instead.
//
// SetHeader sets a header: over HTTP, and over gRPC, Connect and gRPC-Web (package rpc) as metadata before the output, also where the call
// came in on another node. A name that ends in "-bin" has bytes in base64 as its value. Call it before the handler returns and, in a stream,
// before it sends its first value; later it has no effect. The error says why HTTP cannot carry it, or that the answer has more than 64
// headers or 12 KiB of them. Headers that frame an answer, such as Content-Length, are the gateway's.
//
// SetTrailer is SetHeader for metadata behind the output, which a stream may set until its handler returns. Over HTTP without gRPC it is a
// header.
func Answer(ctx context.Context) gateway.Answer { return handlersAnswer{ctx} }

// handlersAnswer checks what a handler says and hands it to the call's collector.
type handlersAnswer struct{ ctx context.Context }

func (h handlersAnswer) SetStatus(status int) error {
	c := callOf(h.ctx)
	if c == nil || c.op.action == nil {
		return nil
	}
	if a := c.op.action; !a.declares(status) {
		return Errorf(CodeInternal, nameBadOutput, "%s does not declare the status %d: add sabir.Status(%d) to its options", a.Name, status, status)
	}
	if a := answerOf(h.ctx); a != nil {
		return a.SetStatus(status)
	}
	return nil
}

func (h handlersAnswer) SetHeader(name, value string) error {
	return h.set(name, value, gateway.Answer.SetHeader)
}

func (h handlersAnswer) SetTrailer(name, value string) error {
	return h.set(name, value, gateway.Answer.SetTrailer)
}

func (h handlersAnswer) set(name, value string, set func(a gateway.Answer, name, value string) error) error {
	err := answer.CheckHeader(name, value)
	if a := answerOf(h.ctx); err == nil && a != nil {
		err = set(a, name, value)
	}
	if err != nil {
		return &Error{Code: CodeInternal, Name: nameBadOutput, Message: err.Error(), cause: err}
	}
	return nil
}

// answerOf returns the collector for the metadata of the answer to the call of ctx; nil for none. Nested calls have none but what a handler
// gave them by gateway.WithAnswer: their metadata is not for the caller of the outer call.
func answerOf(ctx context.Context) gateway.Answer {
	c := callOf(ctx)
	if c == nil {
		return nil
	}
	if p := c.parent; p != nil && p.op.action == nil && p.op.name == c.op.name {
		c = p // one call, for which the balancer chose this node
	}
	if c.level <= 1 {
		a, _ := ctx.Value(answer.Key{}).(gateway.Answer)
		return a
	}
	if c.parent == nil {
		return nil
	}
	own, _ := ctx.Value(answer.Key{}).(*answer.Given)
	outer, _ := c.parent.Value(answer.Key{}).(*answer.Given)
	if own == nil || own == outer {
		return nil
	}
	return own
}

// give hands over what was answered beside the output.
func give(said *answer.Metadata, to gateway.Answer) {
	if said == nil || to == nil {
		return
	}
	if said.Status != 0 {
		_ = to.SetStatus(said.Status)
	}
	for _, f := range said.Header {
		_ = to.SetHeader(f.Name, f.Value) // it was checked where it was set
	}
	for _, f := range said.Trailer {
		_ = to.SetTrailer(f.Name, f.Value)
	}
}

// answerBack puts what the handler said into the answer over the link.
func answerBack(in *wire.Inbound, c *callContext) {
	values, ok := c.Context.(*linkContext)
	if !ok {
		return
	}
	if said := values.said.End(); said != nil {
		var pairs []wire.Pair
		for name, value := range said.Each {
			pairs = append(pairs, wire.Pair{Name: name, Value: value})
		}
		in.Answer(pairs)
	}
}

// takePairs hands what another node answered beside the output to whoever takes it. Names and values are checked again: they came
// from another node.
func takePairs(pairs []wire.Pair, to gateway.Answer) {
	if len(pairs) == 0 {
		return
	}
	var said answer.Metadata
	for _, p := range pairs {
		said.Add(p.Name, p.Value)
	}
	valid := func(list []answer.Field) []answer.Field {
		return slices.DeleteFunc(list, func(f answer.Field) bool { return answer.CheckHeader(f.Name, f.Value) != nil })
	}
	said.Header, said.Trailer = valid(said.Header), valid(said.Trailer)
	if said.Status < 200 || said.Status > 399 {
		said.Status = 0
	}
	give(&said, to)
}

// statusNumbers are the statuses as the catalog has them: without their headers, which only documents need.
func statusNumbers(list []introspect.Status) (numbers []int) {
	for _, s := range list {
		numbers = append(numbers, s.Status)
	}
	return numbers
}

// statusesOf is the other side of statusNumbers. What can be no status is left out.
func statusesOf(numbers []int) (list []introspect.Status) {
	for _, status := range numbers {
		if status >= 200 && status <= 399 {
			list = append(list, introspect.Status{Status: status})
		}
	}
	return list
}
