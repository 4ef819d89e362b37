package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/introspect"
)

// operatorName is the service whose actions are the operator's tools: sabir_nodes and so on.
const operatorName = "sabir"

// operatorService tells an agent about the cluster. It runs on the command line's own node, which offers it to nobody else.
type operatorService struct {
	cli     *cli
	cluster atomic.Pointer[clusterClient] // once it is joined, which is before the first call
}

// The inputs and outputs of the tools.
type (
	namedLike struct {
		Pattern string `json:"pattern,omitempty" doc:"a part of the name, or a whole name with * for anything; empty for all"`
	}
	tracesRequest struct {
		Trace  string `json:"trace,omitempty" doc:"the spans of this trace; empty for the latest of all"`
		Failed bool   `json:"failed,omitempty" doc:"only spans that failed"`
		Limit  int    `json:"limit,omitempty" validate:"gte=0,lte=1000" doc:"the most spans; 100 for 0"`
	}
	errorsRequest struct {
		Minutes int `json:"minutes,omitempty" validate:"gte=0,lte=1440" doc:"how far back to look; 5 for 0"`
	}
	// span is a span as the service $traces has it.
	span struct {
		Trace   string            `json:"trace"`
		ID      string            `json:"id"`
		Parent  string            `json:"parent,omitempty"`
		Name    string            `json:"name"`
		Kind    string            `json:"kind"`
		Node    string            `json:"node"`
		Start   int64             `json:"start" doc:"Unix time in microseconds"`
		Took    float64           `json:"took" doc:"microseconds"`
		Error   string            `json:"error,omitempty"`
		Failed  bool              `json:"failed,omitempty"`
		Details map[string]string `json:"details,omitempty"`
	}
	// spanQuery and spanList are its question and answer.
	spanQuery struct {
		Trace string `json:"trace,omitempty"`
	}
	spanList struct {
		Spans []span `json:"spans"`
	}
	// lateError is one kind of error that calls ended with lately.
	lateError struct {
		Name  string    `json:"name" doc:"what was called"`
		Error string    `json:"error"`
		Node  string    `json:"node"`
		Count int       `json:"count"`
		Last  time.Time `json:"last"`
		Trace string    `json:"trace" doc:"of the last one"`
	}
)

func (o *operatorService) make(write bool) *sabir.Service {
	s := sabir.NewService(operatorName, sabir.Doc("tells about the cluster"))
	get := func(path string) sabir.ActionOption { return sabir.Route("GET", "/"+operatorName+"/"+path) }
	sabir.Handle(s, "nodes", func(ctx context.Context, _ sabir.Empty) ([]surveyed, error) {
		return o.cli.survey(ctx, o.cluster.Load(), 1)
	}, get("nodes"), sabir.Doc("lists the nodes of the cluster with their state, load and services"))
	sabir.Handle(s, "services", func(ctx context.Context, in namedLike) ([]introspect.Service, error) {
		list, err := askFor[[]introspect.Service](ctx, o.cli, o.cluster.Load(), "$node.services")
		return chosen(list, err, in.Pattern, func(s introspect.Service) (name, service string) { return s.Name, s.Name })
	}, get("services"), sabir.Doc("lists the services, an entry for each node that runs one"))
	sabir.Handle(s, "actions", func(ctx context.Context, in namedLike) ([]introspect.Action, error) {
		list, err := askFor[[]introspect.Action](ctx, o.cli, o.cluster.Load(), "$node.actions")
		return chosen(list, err, in.Pattern, func(a introspect.Action) (name, service string) { return a.Name, a.Service })
	}, get("actions"), sabir.Doc("lists the actions with their types and the nodes that offer them"))
	sabir.Handle(s, "traces", o.traces, get("traces"), sabir.Doc("lists spans of the nodes that keep some, the latest first"))
	sabir.Handle(s, "errors", o.lateErrors, get("errors"), sabir.Doc("lists which calls failed in the last minutes by a fault of their node, not by an answer such as NotFound: how often and why, by the spans of the nodes that keep some"))
	sabir.Handle(s, "channels", func(ctx context.Context, _ sabir.Empty) ([]channel.Info, error) {
		list, err := o.cli.listChannels(ctx, o.cluster.Load())
		return mergeChannels(list), err
	}, get("channels"), sabir.Doc("lists the durable channels, and how many messages wait in them"))
	sabir.Handle(s, "dead_letters", func(ctx context.Context, in channel.DeadLettersRequest) ([]channel.DeadLetter, error) {
		return askUser[[]channel.DeadLetter](ctx, o.cli, o.cluster.Load(), "dead", in)
	}, get("dead_letters"), sabir.Doc("lists the messages of a channel of dead letters, with the reason why each was given up"))
	if write {
		settle := func(action string) func(context.Context, channel.DeadLettersRequest) (int, error) {
			return func(ctx context.Context, in channel.DeadLettersRequest) (int, error) {
				return askUser[int](ctx, o.cli, o.cluster.Load(), action, in)
			}
		}
		sabir.Handle(s, "replay_dead_letters", settle("replay"), sabir.Doc("publishes dead letters again, those with the keys or all, and tells how many"))
		sabir.Handle(s, "delete_dead_letters", settle("delete"), sabir.Route("DELETE", "/"+operatorName+"/dead_letters"), sabir.Doc("deletes dead letters for good, those with the keys or all, and tells how many"))
	}
	return s
}

// chosen are the entries whose names match a pattern, without those of the runtime.
func chosen[T any](list []T, err error, pattern string, nameOf func(T) (name, service string)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	var args []string
	if pattern != "" {
		args = []string{pattern}
	}
	matches, err := matcher(args)
	if err != nil {
		return nil, sabir.NewError(sabir.CodeInvalidArgument, "BadPattern", err.Error())
	}
	return slices.DeleteFunc(list, func(entry T) bool {
		name, service := nameOf(entry)
		return !matches(name) || hidden(service, false)
	}), nil
}

// traces asks all nodes that keep spans for them.
func (o *operatorService) traces(ctx context.Context, in tracesRequest) ([]span, error) {
	spans, err := o.spans(ctx, in.Trace)
	if err != nil {
		return nil, err
	}
	if in.Failed {
		spans = slices.DeleteFunc(spans, func(s span) bool { return !s.Failed })
	}
	return spans[:min(len(spans), cmp.Or(in.Limit, 100))], nil
}

// lateErrors counts the spans that failed lately.
func (o *operatorService) lateErrors(ctx context.Context, in errorsRequest) ([]lateError, error) {
	spans, err := o.spans(ctx, "")
	if err != nil {
		return nil, err
	}
	begin := time.Now().Add(-time.Duration(cmp.Or(in.Minutes, 5)) * time.Minute).UnixMicro()
	var list []lateError
	for _, s := range spans { // the latest first
		if !s.Failed || s.Start < begin {
			continue
		}
		i := slices.IndexFunc(list, func(e lateError) bool { return e.Name == s.Name && e.Error == s.Error && e.Node == s.Node })
		if i < 0 {
			i = len(list)
			list = append(list, lateError{Name: s.Name, Error: s.Error, Node: s.Node, Last: time.UnixMicro(s.Start).UTC(), Trace: s.Trace})
		}
		list[i].Count++
	}
	slices.SortStableFunc(list, func(a, b lateError) int { return b.Count - a.Count })
	return list, nil
}

// spans returns what the nodes that keep spans have of a trace, or of all; the latest first.
func (o *operatorService) spans(ctx context.Context, trace string) (all []span, err error) {
	cluster := o.cluster.Load()
	nodes, err := askFor[[]introspect.Node](ctx, o.cli, cluster, "$node.nodes")
	if err != nil {
		return nil, err
	}
	for _, n := range nodes {
		if n.ClientOnly || n.ID == cluster.node.ID() {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, o.cli.timeout)
		found, err := sabir.Call[spanList](ctx, cluster.node, "$traces.recent", spanQuery{trace}, sabir.ToNode(n.ID))
		cancel()
		if errors.Is(err, sabir.ErrActionNotFound) {
			continue // it keeps none
		}
		if err != nil {
			return nil, err
		}
		all = append(all, found.Spans...)
	}
	slices.SortFunc(all, func(a, b span) int {
		return cmp.Or(cmp.Compare(b.Start, a.Start), strings.Compare(a.ID, b.ID))
	})
	return slices.CompactFunc(all, func(a, b span) bool { return a.ID == b.ID && a.Trace == b.Trace }), nil
}
