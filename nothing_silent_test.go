package sabir_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/native"
	"github.com/sabir-go/sabir/secret"
)

// The tests of this file are about programs that are wrong and used to run all the same: each mistake must be reported, by the
// compiler, at the start or by the call, and the report must name what is wrong and what to do.

type (
	deposit  struct{ Amount int }
	greeting struct{ Text string }
)

func reports(t *testing.T, got error, want error, words ...string) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("got %v, want %v", got, want)
		return
	}
	for _, word := range words {
		if !strings.Contains(got.Error(), word) {
			t.Errorf("%v does not say %q", got, word)
		}
	}
}

// panicOf returns the text of fn's panic; "" where it does not panic.
func panicOf(fn func()) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprint(v)
		}
	}()
	fn()
	return ""
}

func none(context.Context, sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, nil }

func TestWhatIsDeclaredForAServiceThatRunsPanicsWithItsFileAndLine(t *testing.T) {
	s := sabir.NewService("shop")
	group := sabir.NewModule("all", s)
	n := startNode(t, sabir.Serve(group))
	declarations := map[string]func(){
		"action late": func() { sabir.Handle(s, "late", none) },
		"stream late": func() {
			sabir.HandleStream(s, "late", func(context.Context, *sabir.Stream[int, int]) error { return nil })
		},
		"event late":       func() { sabir.On(s, "late", func(context.Context, int) error { return nil }) },
		"the part of shop": func() { s.Attach(&part{name: "part of shop"}, 0) },
		"action contract":  func() { sabir.NewAction[sabir.Empty, sabir.Empty]("shop.contract").Handle(s, none) },
		"stream contract": func() {
			sabir.NewStream[int, int]("shop.contract").Handle(s, func(context.Context, *sabir.Stream[int, int]) error { return nil })
		},
		"contract of an event": func() { sabir.NewEvent[int]("late").On(s, func(context.Context, int) error { return nil }) },
		"a middleware":         func() { group.Use() },
	}
	for what, declare := range declarations {
		said := panicOf(declare)
		for _, word := range []string{what, "service shop", "nothing_silent_test.go:", "node.Add", n.ID()} {
			if !strings.Contains(said, word) {
				t.Errorf("%s: %q does not say %q", what, said, word)
			}
		}
	}
}

func TestWhatIsGivenAsNilIsNamedWithItsFileAndLine(t *testing.T) {
	start := func(options ...sabir.NodeOption) error { return sabir.NewNode(options...).Start(t.Context()) }
	for option, err := range map[string]error{
		"Logger":  start(sabir.Logger(nil)),
		"OnStart": start(sabir.Serve(sabir.NewService("s", sabir.OnStart(nil)))),
		"OnStop":  start(sabir.Serve(sabir.NewService("s", sabir.OnStop(nil)))),
	} {
		if err == nil || !strings.Contains(err.Error(), "nothing_silent_test.go:") || !strings.Contains(err.Error(), option+" was given nil") {
			t.Errorf("%s: %v", option, err)
		}
	}
	for what, declare := range map[string]func(){
		"an action":          func() { sabir.Handle(nil, "a", none) },
		"an event":           func() { sabir.On(nil, "a", func(context.Context, int) error { return nil }) },
		"an action contract": func() { sabir.NewAction[sabir.Empty, sabir.Empty]("s.a").Handle(nil, none) },
		"a stream contract": func() {
			sabir.NewStream[int, int]("s.a").Handle(nil, func(context.Context, *sabir.Stream[int, int]) error { return nil })
		},
		"a contract of an event": func() { sabir.NewEvent[int]("a").On(nil, func(context.Context, int) error { return nil }) },
	} {
		if said := panicOf(declare); !strings.Contains(said, "nothing_silent_test.go:") || !strings.Contains(said, "sabir.NewService") {
			t.Errorf("%s: %q", what, said)
		}
	}
}

func TestAServiceThatWasRemovedMayBeDeclaredFurtherAndAddedAgain(t *testing.T) {
	s := sabir.NewService("shop")
	n := startNode(t, sabir.Serve(s))
	if err := n.Remove(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	sabir.Handle(s, "late", none)
	if err := n.Add(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if _, err := sabir.Call[sabir.Empty](t.Context(), n, "shop.late", sabir.Empty{}); err != nil {
		t.Error(err)
	}
}

func TestEmitOfWhatAHandlerCannotReadIsAnErrorThatNamesBothTypes(t *testing.T) {
	handled := make(chan deposit, 10)
	reader, misfit := sabir.NewService("reader"), sabir.NewService("misfit")
	sabir.On(reader, "bank.paid", func(_ context.Context, d deposit) error { handled <- d; return nil })
	sabir.On(misfit, "bank.*", func(context.Context, greeting) error { t.Error("the handler ran"); return nil })
	here := startNode(t, sabir.Join("mem://unreadable"), sabir.NodeID("here"))
	there := startNode(t, sabir.Join("mem://unreadable"), sabir.NodeID("there"), sabir.Serve(reader, misfit))
	if err := here.WaitFor(t.Context(), "reader", "misfit"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		from    *sabir.Node
		payload any
		emitted string
	}{
		{"on the same node", there, nil, "sabir_test.deposit"},
		{"on another node", here, nil, "native"},
		{"as an any", there, deposit{7}, "sabir_test.deposit"},
	} {
		t.Run(test.name, func(t *testing.T) {
			emit := func() error { return sabir.Emit(t.Context(), test.from, "bank.paid", deposit{7}) }
			if test.payload != nil {
				emit = func() error { return sabir.Emit(t.Context(), test.from, "bank.paid", test.payload) }
			}
			reports(t, emit(), sabir.ErrBadInput, "bank.paid", "misfit", "sabir_test.greeting", test.emitted)
			if d := <-handled; d.Amount != 7 {
				t.Errorf("the handler that can read it got %+v", d)
			}
		})
	}
}

func TestWhatWasNotMadeByItsConstructorSaysSo(t *testing.T) {
	n, ctx := startNode(t), t.Context()
	var (
		service sabir.Service
		node    sabir.Node
		action  sabir.Contract[int, int]
		stream  sabir.StreamContract[int, int]
		event   sabir.EventContract[int]
	)
	start := func(services ...sabir.Servable) error {
		return sabir.NewNode(sabir.Logger(quiet), sabir.Serve(services...)).Start(ctx)
	}
	handling := func(handle func(*sabir.Service)) error {
		s := sabir.NewService("s")
		handle(s)
		return start(s)
	}
	function := func(context.Context, int) (int, error) { return 0, nil }
	streaming := func(context.Context, *sabir.Stream[int, int]) error { return nil }
	consuming := func(context.Context, int) error { return nil }
	_, called := action.Call(ctx, n, 1)
	_, bound := action.Bind(n)(ctx, 1)
	_, opened := stream.Open(ctx, n)
	var yielded error
	for _, err := range stream.Call(ctx, n, 1) {
		yielded = err
	}
	_, through := sabir.Call[int](ctx, &node, "a.b", 1)
	_, throughService := sabir.Call[int](ctx, &service, "a.b", 1)
	var nilNode *sabir.Node
	for _, test := range []struct {
		name  string
		got   error
		want  error
		maker string
	}{
		{"Serve of the zero Service", start(&service), sabir.NewError(sabir.CodeInvalidArgument, "BadService", ""), "sabir.NewService"},
		{"Serve of a nil Service", start((*sabir.Service)(nil)), sabir.NewError(sabir.CodeInvalidArgument, "BadService", ""), "sabir.NewService"},
		{"Serve of nil", start(nil), sabir.NewError(sabir.CodeInvalidArgument, "BadService", ""), "sabir.NewService"},
		{"Add of the zero Service", n.Add(ctx, &service), sabir.NewError(sabir.CodeInvalidArgument, "BadService", ""), "sabir.NewService"},
		{"a call from the zero Service", throughService, sabir.NewError(sabir.CodeInvalidArgument, "BadService", ""), "sabir.NewService"},
		{"Start of the zero Node", node.Start(ctx), sabir.NewError(sabir.CodeFailedPrecondition, "NodeState", ""), "sabir.NewNode"},
		{"Run of the zero Node", node.Run(ctx), sabir.NewError(sabir.CodeFailedPrecondition, "NodeState", ""), "sabir.NewNode"},
		{"Stop of the zero Node", node.Stop(ctx), sabir.NewError(sabir.CodeFailedPrecondition, "NodeState", ""), "sabir.NewNode"},
		{"Add to the zero Node", node.Add(ctx), sabir.NewError(sabir.CodeFailedPrecondition, "NodeState", ""), "sabir.NewNode"},
		{"WaitFor of the zero Node", node.WaitFor(ctx, "s"), sabir.NewError(sabir.CodeFailedPrecondition, "NodeState", ""), "sabir.NewNode"},
		{"a call from the zero Node", through, sabir.NewError(sabir.CodeFailedPrecondition, "NodeState", ""), "sabir.NewNode"},
		{"an event from the zero Node", sabir.Emit(ctx, &node, "a.b", 1), sabir.NewError(sabir.CodeFailedPrecondition, "NodeState", ""), "sabir.NewNode"},
		{"an event from a nil Node", sabir.Emit(ctx, nilNode, "a.b", 1), sabir.NewError(sabir.CodeFailedPrecondition, "NodeState", ""), "sabir.NewNode"},
		{"a call of the zero Contract", called, sabir.NewError(sabir.CodeInvalidArgument, "BadContract", ""), "sabir.NewAction"},
		{"a bound zero Contract", bound, sabir.NewError(sabir.CodeInvalidArgument, "BadContract", ""), "sabir.NewAction"},
		{"All with the zero Contract", sabir.All(ctx, n, action.Into(new(int), 1)), sabir.NewError(sabir.CodeInvalidArgument, "BadContract", ""), "sabir.NewAction"},
		{"Handle of the zero Contract", handling(func(s *sabir.Service) { action.Handle(s, function) }), sabir.NewError(sabir.CodeInvalidArgument, "BadService", ""), "sabir.NewAction"},
		{"Open of the zero StreamContract", opened, sabir.NewError(sabir.CodeInvalidArgument, "BadContract", ""), "sabir.NewStream"},
		{"Call of the zero StreamContract", yielded, sabir.NewError(sabir.CodeInvalidArgument, "BadContract", ""), "sabir.NewStream"},
		{"Handle of the zero StreamContract", handling(func(s *sabir.Service) { stream.Handle(s, streaming) }), sabir.NewError(sabir.CodeInvalidArgument, "BadService", ""), "sabir.NewStream"},
		{"Emit of the zero EventContract", event.Emit(ctx, n, 1), sabir.NewError(sabir.CodeInvalidArgument, "BadContract", ""), "sabir.NewEvent"},
		{"Broadcast of the zero EventContract", event.Broadcast(ctx, n, 1), sabir.NewError(sabir.CodeInvalidArgument, "BadContract", ""), "sabir.NewEvent"},
		{"On of the zero EventContract", handling(func(s *sabir.Service) { event.On(s, consuming) }), sabir.NewError(sabir.CodeInvalidArgument, "BadService", ""), "sabir.NewEvent"},
	} {
		t.Run(test.name, func(t *testing.T) { reports(t, test.got, test.want, test.maker) })
	}
}

func TestAnOptionGivenTwiceIsAnErrorOfTheStartWithBothLines(t *testing.T) {
	action := func(options ...sabir.ActionOption) []sabir.NodeOption {
		s := sabir.NewService("s")
		sabir.Handle(s, "a", none, options...)
		return []sabir.NodeOption{sabir.Serve(s)}
	}
	event := func(options ...sabir.EventOption) []sabir.NodeOption {
		s := sabir.NewService("s")
		sabir.On(s, "a", func(context.Context, int) error { return nil }, options...)
		return []sabir.NodeOption{sabir.Serve(s)}
	}
	service := func(options ...sabir.ServiceOption) []sabir.NodeOption {
		return []sabir.NodeOption{sabir.Serve(sabir.NewService("s", options...))}
	}
	join := func(options ...cluster.Option) []sabir.NodeOption {
		return []sabir.NodeOption{sabir.Join("mem://twice", options...)}
	}
	for name, options := range map[string][]sabir.NodeOption{
		"NodeID":                 {sabir.NodeID("a"), sabir.NodeID("b")},
		"Logger":                 {sabir.Logger(quiet), sabir.Logger(quiet)},
		"HTTP":                   {sabir.HTTP(":0"), sabir.HTTP(":0")},
		"Join":                   {sabir.Join("mem://a"), sabir.Join("mem://b")},
		"Limits":                 {sabir.Limits{MaxDepth: 1}, sabir.Limits{StopTimeout: 2}},
		"Version":                service(sabir.Version(1), sabir.Version(2)),
		"Doc":                    service(sabir.Doc("a"), sabir.Doc("b")),
		"Doc of an action":       action(sabir.Doc("a"), sabir.Doc("b")),
		"ClusterOnly":            action(sabir.ClusterOnly(), sabir.ClusterOnly()),
		"Delivery":               event(sabir.Delivery{Group: "a"}, sabir.Delivery{Buffer: 2}),
		"cluster.Config.Name":    join(cluster.Config{Name: "a"}, cluster.Config{Name: "b"}),
		"cluster.Config.Key":     join(cluster.Config{Key: secret.New("the key of the cluster"), KeyFromEnv: "PATH"}),
		"cluster.Config.NodeKey": join(cluster.Config{NodeKey: secret.New("the private key of a node, at length"), NodeKeyFile: "nothing_silent_test.go"}),
		"cluster.Links":          join(cluster.Links{Connections: 2}, cluster.Links{FullMesh: 3}),
		"cluster.Limits":         join(cluster.Limits{Calls: 1}, cluster.Limits{Calls: 2}),
		"Zone":                   join(cluster.Config{Zone: "a"}, cluster.Config{Zone: "b"}),
	} {
		t.Run(name, func(t *testing.T) {
			err := sabir.NewNode(options...).Start(t.Context())
			want := sabir.NewError(sabir.CodeInvalidArgument, "BadOption", "")
			if errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadService", "")) { // of NewService, Handle and On
				want = sabir.NewError(sabir.CodeInvalidArgument, "BadService", "")
			}
			option, _, _ := strings.Cut(name, " of ")
			reports(t, err, want, option, "given twice")
			if lines := strings.Count(fmt.Sprint(err), "nothing_silent_test.go:"); lines != 2 {
				t.Errorf("%v names %d lines of this file, want both", err, lines)
			}
		})
	}
}

func TestSettingsOfLinksThatCannotBeAreErrorsOfTheStart(t *testing.T) {
	for said, links := range map[string]cluster.Links{
		"Connections of cluster.Links is -1": {Connections: -1},
		"Connections of cluster.Links is 65": {Connections: 65},
		"FullMesh of cluster.Links is -1":    {FullMesh: -1},
	} {
		err := sabir.NewNode(sabir.Join("mem://links", links)).Start(t.Context())
		reports(t, err, sabir.NewError(sabir.CodeInvalidArgument, "BadOption", ""), said, "nothing_silent_test.go:")
	}
}

func TestOptionsThatAddUpMayBeGivenSeveralTimes(t *testing.T) {
	a, b := sabir.NewService("a", sabir.DependsOn(sabir.ServiceName("b")), sabir.DependsOn(sabir.ServiceName("$node"))), sabir.NewService("b", sabir.Use(), sabir.Use())
	sabir.Handle(a, "x", none, sabir.Route("GET", "/x"), sabir.Route("GET", "/y"), sabir.Codecs(json.Codec), sabir.Codecs(native.Codec()),
		sabir.Use(), sabir.Use(), sabir.Errors(sabir.ErrBadInput), sabir.Errors(sabir.ErrPanic))
	n := startNode(t, sabir.Serve(a), sabir.Serve(b), sabir.Use(), sabir.Use(), sabir.Codecs(json.Codec), sabir.Codecs(native.Codec()),
		sabir.Balance(cluster.Random), sabir.Balance(cluster.LeastInFlight, "a.*"))
	if routes := n.Action("a.x").Routes; len(routes) != 2 {
		t.Errorf("the action has the routes %v", routes)
	}
}

func TestEmitOnANodeThatDoesNotRunIsAnErrorEvenWithoutHandlers(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	created, stopped, running := sabir.NewNode(sabir.Logger(quiet)), sabir.NewNode(sabir.Logger(quiet)), startNode(t)
	if err := errors.Join(stopped.Start(t.Context()), stopped.Stop(t.Context())); err != nil {
		t.Fatal(err)
	}
	for kind, emit := range map[string]func(context.Context, *sabir.Node) error{
		"Emit":           func(ctx context.Context, n *sabir.Node) error { return sabir.Emit(ctx, n, "a.b", 1) },
		"Broadcast":      func(ctx context.Context, n *sabir.Node) error { return sabir.Broadcast(ctx, n, "a.b", 1) },
		"BroadcastLocal": func(ctx context.Context, n *sabir.Node) error { return sabir.BroadcastLocal(ctx, n, "a.b", 1) },
	} {
		t.Run(kind, func(t *testing.T) {
			reports(t, emit(t.Context(), created), sabir.NewError(sabir.CodeFailedPrecondition, "NodeState", ""), "not started", "a.b")
			reports(t, emit(t.Context(), stopped), sabir.NewError(sabir.CodeFailedPrecondition, "NodeState", ""), "stopped", "a.b")
			reports(t, emit(ended, running), context.Canceled, "a.b")
			if err := emit(t.Context(), running); err != nil {
				t.Errorf("on a node that runs: %v", err)
			}
		})
	}
}

func TestABoundFunctionWithItsTypesSwappedIsAnErrorOfTheCall(t *testing.T) {
	s := sabir.NewService("bank")
	sabir.Handle(s, "greet", func(_ context.Context, d deposit) (greeting, error) { return greeting{}, nil })
	n := startNode(t, sabir.Serve(s))
	_, err := sabir.Bind[greeting, deposit](n, "bank.greet")(t.Context(), greeting{"hello"})
	reports(t, err, sabir.ErrBadInput, "sabir_test.greeting", "sabir_test.deposit", "no field in common")
}

func TestAStartThatWaitsForAServiceThatIsNotThereSaysSoEveryFiveSeconds(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var log bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
		defer cancel()
		s := sabir.NewService("shop", sabir.DependsOn(sabir.ServiceName("typo")))
		err := sabir.NewNode(sabir.Serve(s), sabir.Logger(slog.New(slog.NewTextHandler(&log, nil)))).Start(ctx)
		reports(t, err, context.DeadlineExceeded, "typo", "shop")
		if lines := strings.Count(log.String(), "missing=typo"); lines != 2 {
			t.Errorf("%d lines about it in 12 seconds:\n%s", lines, log.String())
		}
	})
}

func TestACallToANodeWithoutANameIsRefused(t *testing.T) {
	s := sabir.NewService("bank")
	sabir.Handle(s, "greet", func(_ context.Context, d deposit) (greeting, error) { return greeting{"hello"}, nil })
	sabir.HandleStream(s, "tail", func(context.Context, *sabir.Stream[int, int]) error { return nil })
	n := startNode(t, sabir.Serve(s))
	nobody := sabir.ToNode(sabir.InfoFromContext(t.Context()).From)
	_, named := sabir.Call[greeting](t.Context(), n, "bank.greet", deposit{}, nobody)
	_, text := sabir.CallJSON(t.Context(), n, "bank.greet", nil, nobody)
	_, stream := sabir.OpenStream[int, int](t.Context(), n, "bank.tail", nobody)
	for _, err := range []error{named, text, stream} {
		reports(t, err, sabir.NewError(sabir.CodeInvalidArgument, "BadOption", ""), "ToNode without the name of a node", "bank.")
	}
}

func TestAnOptionOfACallGivenTwiceIsAnErrorOfTheCall(t *testing.T) {
	s := sabir.NewService("bank")
	sabir.Handle(s, "greet", func(_ context.Context, d deposit) (greeting, error) { return greeting{"hello"}, nil })
	sabir.HandleStream(s, "tail", func(context.Context, *sabir.Stream[int, int]) error { return nil })
	n := startNode(t, sabir.NodeID("a"), sabir.Serve(s))
	greet := sabir.NewAction[deposit, greeting]("bank.greet")
	bound := sabir.Bind[deposit, greeting](n, "bank.greet")
	for name, options := range map[string][]sabir.CallOption{
		"WithTimeout": {sabir.WithTimeout(time.Second), sabir.NoCache(), sabir.WithTimeout(time.Minute)},
		"ToNode":      {sabir.ToNode("a"), sabir.ToNode("b")},
		"ByKey":       {sabir.ByKey("a"), sabir.ByKey("b")},
		"WaitForNode": {sabir.WaitForNode(time.Second), sabir.WaitForNode(time.Minute)},
	} {
		for call, do := range map[string]func() error{
			"by name": func() error {
				_, err := sabir.Call[greeting](t.Context(), n, "bank.greet", deposit{}, options...)
				return err
			},
			"other types": func() error {
				_, err := sabir.Call[deposit](t.Context(), n, "bank.greet", deposit{}, options...)
				return err
			},
			"a contract": func() error { _, err := greet.Call(t.Context(), n, deposit{}, options...); return err },
			"bound":      func() error { _, err := bound(t.Context(), deposit{}, options...); return err },
			"JSON":       func() error { _, err := sabir.CallJSON(t.Context(), n, "bank.greet", nil, options...); return err },
			"JSON, the action itself": func() error {
				_, err := n.Action("bank.greet").AppendJSON(t.Context(), nil, nil, options...)
				return err
			},
			"a stream": func() error {
				_, err := sabir.OpenStream[int, int](t.Context(), n, "bank.tail", options...)
				return err
			},
		} {
			t.Run(name+" "+call, func(t *testing.T) {
				reports(t, do(), sabir.NewError(sabir.CodeInvalidArgument, "BadOption", ""), name, "twice", "bank.")
			})
		}
	}
	if _, err := greet.Call(t.Context(), n, deposit{}, sabir.NoCache(), sabir.NoCache(), sabir.WithTimeout(time.Minute)); err != nil {
		t.Errorf("options that agree: %v", err)
	}
}
