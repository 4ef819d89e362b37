package sabir_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/introspect"
)

// noting is a service whose hooks note when they run.
func noting(notes *[]string, name string, options ...sabir.ServiceOption) *sabir.Service {
	note := func(what string) func(context.Context) error {
		return func(context.Context) error { *notes = append(*notes, what+" "+name); return nil }
	}
	return sabir.NewService(name, append(options, sabir.OnStart(note("start")), sabir.OnStop(note("stop")))...)
}

func TestServicesStartAfterThoseTheyNeedAndStopBefore(t *testing.T) {
	var notes []string
	node := sabir.NewNode(sabir.Serve(
		noting(&notes, "orders", sabir.DependsOn(sabir.ServiceName("users"), sabir.ServiceName("stock"))),
		noting(&notes, "users", sabir.DependsOn(sabir.ServiceName("db"))),
		noting(&notes, "stock", sabir.DependsOn(sabir.ServiceName("db"))),
		noting(&notes, "db"),
	))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := node.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := "start db, start users, start stock, start orders, stop orders, stop stock, stop users, stop db"
	if got := strings.Join(notes, ", "); got != want {
		t.Fatalf("got %s", got)
	}
}

func TestANodeMayBeAskedThingsWhileItStarts(t *testing.T) {
	for range 10 {
		node := sabir.NewNode(sabir.NodeID("a"), sabir.Logger(quiet), sabir.Join("mem://asked-while-it-starts"), sabir.Serve(greeter()))
		started := make(chan error, 1)
		go func() { started <- node.Start(t.Context()) }()
		for node.State() != "running" { // the race detector reports where this is wrong
			if nodes := node.Nodes(); len(nodes) != 1 || nodes[0].ID != "a" {
				t.Errorf("the nodes are %+v", nodes)
			}
			_, err := sabir.Call[helloReply](t.Context(), node, "greeter.hello", helloRequest{}, sabir.ToNode("b"))
			if !errors.Is(err, sabir.ErrServiceUnavailable) {
				t.Errorf("a call to a node that is not there: %v", err)
			}
		}
		if err := <-started; err != nil {
			t.Fatal(err)
		}
		stopIfRunning(t, node)
	}
}

func TestServicesThatNeedEachOtherAreNamed(t *testing.T) {
	err := sabir.NewNode(sabir.Serve(
		sabir.NewService("a", sabir.DependsOn(sabir.ServiceName("b"))), sabir.NewService("b", sabir.DependsOn(sabir.ServiceName("c"))), sabir.NewService("c", sabir.DependsOn(sabir.ServiceName("a"))),
	)).Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "a needs b needs c needs a") {
		t.Fatalf("got %v", err)
	}
}

func TestMistakesInAServiceAreErrorsOfTheStartWithFileAndLine(t *testing.T) {
	type badRules struct {
		Name string `validate:"requird"`
	}
	for name, c := range map[string]struct {
		make func(s *sabir.Service)
		want []string
	}{
		"two actions of one name": {func(s *sabir.Service) {
			sabir.Handle(s, "get", hello)
			sabir.Handle(s, "get", hello)
		}, []string{"two actions", `"get"`, "node_test.go:"}},
		"a nil handler": {func(s *sabir.Service) {
			sabir.Handle[helloRequest, helloReply](s, "get", nil)
		}, []string{"nil", `"get"`, "node_test.go:"}},
		"a nil stream handler": {func(s *sabir.Service) {
			sabir.HandleStream[helloRequest, helloReply](s, "get", nil)
		}, []string{"nil", `"get"`, "node_test.go:"}},
		"a nil event handler": {func(s *sabir.Service) {
			sabir.On[helloRequest](s, "x", nil)
		}, []string{"nil", `"x"`, "node_test.go:"}},
		"an invalid action name": {func(s *sabir.Service) { sabir.Handle(s, "get it", hello) }, []string{`"get it"`, "' '", "node_test.go:"}},
		"an invalid pattern":     {func(s *sabir.Service) { sabir.On(s, "a*", func(context.Context, int) error { return nil }) }, []string{`"a*"`, "node_test.go:"}},
		"two handlers of one pattern": {func(s *sabir.Service) {
			sabir.On(s, "a", func(context.Context, int) error { return nil })
			sabir.On(s, "a", func(context.Context, int) error { return nil })
		}, []string{"two handlers", `"a"`, "node_test.go:"}},
		"unreadable rules": {func(s *sabir.Service) {
			sabir.Handle(s, "get", func(context.Context, badRules) (helloReply, error) { return helloReply{}, nil })
		}, []string{"requird", "badRules", "node_test.go:"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := sabir.NewService("users")
			c.make(s)
			err := sabir.NewNode(sabir.Serve(s)).Start(t.Context())
			if err == nil {
				t.Fatal("started")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
		})
	}
	for name, s := range map[string][]sabir.Servable{
		"starts with a version": {sabir.NewService("v2.users")},
		"is empty":              {sabir.NewService("")},
		"at least 1":            {sabir.NewService("users", sabir.Version(0))},
		"two services are called users: one made at": {sabir.NewService("users"), sabir.NewService("users")},
	} {
		if err := sabir.NewNode(sabir.Serve(s...)).Start(t.Context()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAllMistakesOfAStartAreReportedTogether(t *testing.T) {
	s := sabir.NewService("users")
	sabir.Handle(s, "a b", hello)
	sabir.Handle[helloRequest, helloReply](s, "c", nil)
	err := sabir.NewNode(sabir.Serve(s, sabir.NewService("v1"))).Start(t.Context())
	if err == nil || strings.Count(err.Error(), "node_test.go:") != 3 {
		t.Fatalf("got %v", err)
	}
}

func TestAFailedStartStopsWhatHadStarted(t *testing.T) {
	var notes []string
	broken := sabir.NewService("broken", sabir.DependsOn(sabir.ServiceName("db")), sabir.OnStart(func(context.Context) error { return errors.New("no disk") }))
	node := sabir.NewNode(sabir.Serve(broken, noting(&notes, "db")))
	err := node.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no disk") || !strings.Contains(err.Error(), "service broken") {
		t.Fatalf("got %v", err)
	}
	if got := strings.Join(notes, ", "); got != "start db, stop db" {
		t.Fatalf("got %s", got)
	}
	if node.State() != "stopped" {
		t.Fatalf("node is %v", node.State())
	}
}

func TestPanickingHooksAreErrors(t *testing.T) {
	err := sabir.NewNode(sabir.Serve(sabir.NewService("bad", sabir.OnStart(func(context.Context) error { panic("x") })))).Start(t.Context())
	if !errors.Is(err, sabir.ErrPanic) {
		t.Fatalf("got %v", err)
	}
}

func TestStartingOrStoppingTwiceIsAClearError(t *testing.T) {
	node := sabir.NewNode()
	if err := node.Stop(t.Context()); err == nil || !strings.Contains(err.Error(), "not started") {
		t.Fatalf("stop before start: %v", err)
	}
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for what, again := range map[string]func(context.Context) error{"start": node.Start, "run": node.Run} {
		if err := again(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "it is running; a node starts once, by Start or by Run") {
			t.Fatalf("%s after start: %v", what, err)
		}
	}
	if err := node.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	for what, again := range map[string]func(context.Context) error{"start": node.Start, "stop": node.Stop} {
		if err := again(t.Context()); err == nil || !strings.Contains(err.Error(), "stopped") {
			t.Fatalf("%s after stop: %v", what, err)
		}
	}
	if err := node.Add(t.Context(), greeter()); err == nil || !strings.Contains(err.Error(), "stopped") {
		t.Fatalf("add after stop: %v", err)
	}
}

func TestAServiceIsServedByOneNodeAtATime(t *testing.T) {
	s := greeter()
	first := start(t, sabir.Serve(s), sabir.NodeID("first"))
	second := start(t)
	if err := second.Add(t.Context(), s); err == nil || !strings.Contains(err.Error(), "first") {
		t.Fatalf("got %v", err)
	}
	if err := first.Remove(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := second.Add(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := first.Remove(t.Context(), s); err == nil || !strings.Contains(err.Error(), "greeter is not running on first") {
		t.Fatalf("got %v", err)
	}
}

func TestVersions(t *testing.T) {
	versioned := func(n int, options ...sabir.ServiceOption) *sabir.Service {
		name := "plain"
		if n > 0 {
			name = string(rune('0' + n))
			options = append(options, sabir.Version(n))
		}
		s := sabir.NewService("users", options...)
		sabir.Handle(s, "get", func(context.Context, struct{}) (string, error) { return name, nil })
		return s
	}
	for name, c := range map[string]struct {
		services []sabir.Servable
		want     string
	}{
		"the service without a version": {[]sabir.Servable{versioned(1), versioned(0), versioned(2)}, "plain"},
		"else the highest":              {[]sabir.Servable{versioned(1), versioned(3), versioned(2)}, "3"},
		"else the preferred":            {[]sabir.Servable{versioned(3), versioned(1, sabir.Preferred())}, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			node := start(t, sabir.Serve(c.services...))
			if got, err := sabir.Call[string](t.Context(), node, "users.get", struct{}{}); err != nil || got != c.want {
				t.Fatalf("users.get is %q, %v", got, err)
			}
			if got, err := sabir.Call[string](t.Context(), node, "v1.users.get", struct{}{}); err != nil || got != "1" {
				t.Fatalf("v1.users.get is %q, %v", got, err)
			}
		})
	}
}

func TestGroupsComeAndGoAsOne(t *testing.T) {
	var notes []string
	shop := sabir.NewModule("shop", noting(&notes, "orders", sabir.DependsOn(sabir.ServiceName("users"))), noting(&notes, "users")).Use(passing(1)...)
	node := start(t)
	if err := node.Add(t.Context(), shop); err != nil {
		t.Fatal(err)
	}
	for _, s := range node.Services()[1:] {
		if s.Group != "shop" {
			t.Fatalf("%+v", s)
		}
	}
	if err := node.Remove(t.Context(), shop); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(notes, ", "); got != "start users, start orders, stop orders, stop users" {
		t.Fatalf("got %s", got)
	}
}

func TestWaitForReturnsWhenTheServicesAreThere(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		node := start(t)
		waited := make(chan error, 1)
		go func() { waited <- node.WaitFor(t.Context(), "greeter", "v2.users") }()
		bubbletest.Wait()
		if err := node.Add(t.Context(), greeter()); err != nil {
			t.Fatal(err)
		}
		bubbletest.Wait()
		if len(waited) != 0 {
			t.Fatal("did not wait for the second")
		}
		if err := node.Add(t.Context(), sabir.NewService("users", sabir.Version(2))); err != nil {
			t.Fatal(err)
		}
		if err := <-waited; err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := node.WaitFor(ctx, "greeter", "nobody"); err == nil || !strings.Contains(err.Error(), "nobody") || strings.Contains(err.Error(), "greeter") {
			t.Fatalf("got %v", err)
		}
	})
}

func TestWaitForEndsWhenTheNodeStops(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		node := start(t)
		waited := make(chan error, 1)
		go func() { waited <- node.WaitFor(context.Background(), "nobody") }()
		bubbletest.Wait()
		if err := node.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-waited; !errors.Is(err, sabir.ErrServiceUnavailable) {
			t.Error(err)
		}
		if err := node.WaitFor(context.Background(), "nobody"); !errors.Is(err, sabir.ErrServiceUnavailable) {
			t.Error(err)
		}
	})
}

func TestACallThatWaitsForANodeEndsWhenItsOwnNodeStops(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		node := start(t, sabir.Join("mem://"+t.Name()))
		get := sabir.Bind[int, string](node, "ledger.get") // of a service that is still to come
		waited := make(chan error, 1)
		go func() {
			_, err := get(context.Background(), 1, sabir.WaitForNode(time.Hour))
			waited <- err
		}()
		bubbletest.Wait()
		began := time.Now()
		if err := node.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-waited; !errors.Is(err, sabir.ErrServiceUnavailable) || time.Since(began) > time.Second {
			t.Error(err, time.Since(began))
		}
	})
}

func TestStopHooksRunAfterTheLastCall(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		release := make(chan struct{})
		closed := false
		s := sabir.NewService("slow", sabir.OnStop(func(context.Context) error { closed = true; return nil }))
		sabir.Handle(s, "call", func(context.Context, struct{}) (bool, error) { <-release; return closed, nil })
		node := start(t, sabir.Serve(s))
		answer := make(chan bool, 1)
		go func() {
			sawClosed, _ := sabir.Call[bool](context.Background(), node, "slow.call", struct{}{})
			answer <- sawClosed
		}()
		bubbletest.Wait() // the call is inside
		removed := make(chan error, 1)
		go func() { removed <- node.Remove(context.Background(), s) }()
		bubbletest.Wait() // the removal waits for it
		if node.Action("slow.call") != nil || closed {
			t.Error("the removal did not begin, or did not wait")
		}
		close(release)
		if err := <-removed; err != nil || <-answer || !closed {
			t.Errorf("got %v, closed %v", err, closed)
		}
	})
}

func TestStopDoesNotWaitForeverForACall(t *testing.T) {
	inside, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	s := sabir.NewService("slow", sabir.OnStop(func(context.Context) error { return nil }))
	sabir.Handle(s, "call", func(context.Context, struct{}) (struct{}, error) { close(inside); <-release; return struct{}{}, nil })
	node := sabir.NewNode(sabir.Serve(s))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = sabir.Call[struct{}](context.Background(), node, "slow.call", struct{}{}) }()
	<-inside
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := node.Stop(ctx); err == nil || !strings.Contains(err.Error(), "service slow was stopped with calls still running") {
		t.Fatalf("got %v", err)
	}
}

func TestAHookCannotChangeItsOwnNode(t *testing.T) {
	node := start(t)
	var err error
	s := sabir.NewService("greedy", sabir.OnStart(func(ctx context.Context) error { err = node.Add(ctx, greeter()); return nil }))
	if err := node.Add(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err == nil || !strings.Contains(err.Error(), "hook") {
		t.Fatalf("got %v", err)
	}
}

func TestAHandlerCannotWaitForItsOwnEnd(t *testing.T) {
	node := start(t)
	var errs []error
	s := sabir.NewService("suicidal", sabir.OnStop(func(context.Context) error { return nil }))
	sabir.Handle(s, "go", func(ctx context.Context, _ struct{}) (struct{}, error) {
		errs = append(errs, node.Remove(ctx, s), node.Stop(ctx))
		return struct{}{}, nil
	})
	if err := node.Add(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for name, ctx := range waysToCall(t) {
		errs = nil
		if _, err := sabir.Call[struct{}](ctx, node, "suicidal.go", struct{}{}); err != nil {
			t.Fatal(err)
		}
		for _, err := range errs {
			if err == nil || !strings.Contains(err.Error(), "waits for the handler") {
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
}

func TestRunStopsWhenItsContextEnds(t *testing.T) {
	var notes []string
	ctx, cancel := context.WithCancel(t.Context())
	s := noting(&notes, "one")
	node := sabir.NewNode(sabir.Serve(s))
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	if err := node.WaitFor(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; err != nil || !slices.Equal(notes, []string{"start one", "stop one"}) {
		t.Fatalf("got %v, %v", err, notes)
	}
}

func TestTheNodeTellsAboutItself(t *testing.T) {
	node := start(t, sabir.Serve(greeter(sabir.Doc("greets"))), sabir.NodeID("n1"))
	info, err := sabir.Call[introspect.Node](t.Context(), node, "$node.info", struct{}{})
	if err != nil || info.ID != "n1" || info.State != "running" || info.Services != 2 {
		t.Fatalf("%+v, %v", info, err)
	}
	actions, err := sabir.Call[[]introspect.Action](t.Context(), node, "$node.actions", struct{}{})
	if err != nil || len(actions) != info.Actions {
		t.Fatalf("%+v, %v", actions, err)
	}
	i := slices.IndexFunc(actions, func(a introspect.Action) bool { return a.Name == "greeter.hello" })
	if i < 0 || actions[i].Description != "greets" || actions[i].In != "sabir_test.helloRequest" {
		t.Fatalf("%+v", actions)
	}
	received := ""
	listener := sabir.NewService("listener")
	sabir.On(listener, "user.*", func(_ context.Context, e helloRequest) error { received = e.Name; return nil })
	if err := node.Add(t.Context(), listener); err != nil {
		t.Fatal(err)
	}
	if _, err := sabir.CallJSON(t.Context(), node, "$node.emit", []byte(`{"event":"user.created","payload":{"name":"Ada"}}`)); err != nil || received != "Ada" {
		t.Fatalf("received %q, %v", received, err)
	}
}
