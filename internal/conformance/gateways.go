package conformance

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/introspect"
	"github.com/sabir-go/sabir/policy"
	"github.com/sabir-go/sabir/web"
)

var faceBehaviours = []behaviour{
	{"a retry policy of the caller repeats a call that may be repeated", policyRetry},
	{"a time limit of the caller ends a call to another node", policyTimeout},
	{"a breaker of the caller opens when another node keeps failing", policyBreaker},
	{"a cache of the caller keeps the answers of another node", policyCache},
	{"a fallback of the caller answers for a node that fails", policyFallback},
	{"the caller's middlewares see the action of another node and its error as it was there", remoteMiddleware},
	{"the HTTP gateway of one node serves the public action of another", httpElsewhere},
	{"the HTTP gateway does not serve another node's action that is for the cluster only", httpCluster},
	{"a client-only node calls, emits and streams as a node does", clientOnlyCalls},
	{"a client-only node sees all nodes and services, also those that come later", clientOnlySees},
	{"a client-only node offers nothing and gets the events that it listens to", clientOnlyOffersNothing},
	{"a client-only node that finds no other node does not start", clientOnlyAlone},
	{"a client-only node finds the others when the node that it joined at leaves", clientOnlyStays},
}

// pair is a node with a policy that calls what the other one offers as svc.it.
func (s *suite) pair(t *testing.T, it func(context.Context, int) (int, error), options ...sabir.NodeOption) (caller *sabir.Node) {
	c := s.cluster(t)
	service := sabir.NewService("svc")
	sabir.Handle(service, "it", it)
	c.start("server", sabir.Serve(service))
	caller = c.start("caller", options...)
	must(t, caller.WaitFor(brief(t), "svc"))
	return caller
}

var errWarming = sabir.NewError(sabir.CodeUnavailable, "Warming", "not yet").AsRetryable()

func policyRetry(t *testing.T, s *suite) {
	var ran atomic.Int64
	caller := s.pair(t, func(_ context.Context, in int) (int, error) {
		if ran.Add(1) < 3 {
			return 0, errWarming
		}
		return in + 1, nil
	}, sabir.Use(policy.Retry{Attempts: 3, FirstPause: time.Millisecond, MaxPause: 2 * time.Millisecond}))
	if _, err := sabir.Call[int](brief(t), caller, "svc.it", 1, sabir.NoRetry()); !errors.Is(err, errWarming) || ran.Load() != 1 {
		t.Errorf("with NoRetry: %d runs, %v", ran.Load(), err)
	}
	ran.Store(0)
	if out, err := sabir.Call[int](brief(t), caller, "svc.it", 1); err != nil || out != 2 || ran.Load() != 3 {
		t.Errorf("got %d after %d runs, %v", out, ran.Load(), err)
	}
}

func policyTimeout(t *testing.T, s *suite) {
	began, ended := make(chan struct{}, 1), make(chan ending, 1)
	caller := s.pair(t, waits(began, ended), sabir.Use(policy.Timeout(soon)))
	start := time.Now()
	_, err := sabir.Call[int](context.Background(), caller, "svc.it", 1)
	if took := time.Since(start); !errors.Is(err, sabir.ErrDeadlineExceeded) || took < soon || took > soon+atOnce {
		t.Errorf("got %v after %v", err, took)
	}
	if e := get(t, "the handler's end", ended); e.err == nil {
		t.Error("the handler's context did not end")
	}
}

func policyBreaker(t *testing.T, s *suite) {
	var ran atomic.Int64
	caller := s.pair(t, func(context.Context, int) (int, error) {
		ran.Add(1)
		return 0, errors.New("no")
	}, sabir.Use(policy.Breaker{MinCalls: 5, FailureRatio: 0.5, OpenFor: time.Hour}))
	var err error
	for range 20 {
		_, err = sabir.Call[int](brief(t), caller, "svc.it", 1)
	}
	if !errors.Is(err, sabir.ErrBreakerOpen) || ran.Load() != 5 {
		t.Errorf("the handler ran %d times, the last error is %v", ran.Load(), err)
	}
}

func policyCache(t *testing.T, s *suite) {
	var ran atomic.Int64
	caller := s.pair(t, func(_ context.Context, in int) (int, error) { return int(ran.Add(1)) * in, nil }, sabir.Use(policy.Cached{Cache: &policy.Cache{}}))
	for range 3 {
		if out, err := sabir.Call[int](brief(t), caller, "svc.it", 7); err != nil || out != 7 {
			t.Errorf("got %d, %v", out, err)
		}
	}
	if out, err := sabir.Call[int](brief(t), caller, "svc.it", 7, sabir.NoCache()); err != nil || out != 14 {
		t.Errorf("with NoCache: %d, %v", out, err)
	}
}

func policyFallback(t *testing.T, s *suite) {
	caller := s.pair(t, func(context.Context, int) (int, error) { return 0, errWarming },
		sabir.Use(sabir.Middleware{Name: "fallback", Remote: policy.FallbackFunc(func(_ context.Context, in int, err error) (int, error) {
			if !errors.Is(err, errWarming) {
				return 0, err
			}
			return -in, nil
		}).Middleware().Remote}))
	if out, err := sabir.Call[int](brief(t), caller, "svc.it", 7); err != nil || out != -7 {
		t.Errorf("got %d, %v", out, err)
	}
}

func remoteMiddleware(t *testing.T, s *suite) {
	type sight struct {
		action *sabir.Action
		in     int
		err    error
	}
	saw := make(chan sight, 1)
	caller := s.pair(t, func(context.Context, int) (int, error) { return 0, errOutOfStock },
		sabir.Use(sabir.Middleware{Name: "look", Remote: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
			return func(ctx context.Context, r *sabir.Request) error {
				err := next(ctx, r)
				saw <- sight{r.Action(), *r.Input().(*int), err}
				return err
			}
		}}))
	_, err := sabir.Call[int](brief(t), caller, "svc.it", 7)
	if got := get(t, "what the middleware saw", saw); got.action.Name != "svc.it" || !got.action.Remote || got.in != 7 || !errors.Is(got.err, errOutOfStock) {
		t.Errorf("the middleware saw %+v", got)
	}
	if !errors.Is(err, errOutOfStock) {
		t.Errorf("the caller got %v", err)
	}
}

// post sends a document to the HTTP gateway of a node.
func post(t *testing.T, n *sabir.Node, path, document string) (status int, answer string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: waitLimit}
	response, err := client.Post("http://"+n.HTTPAddr()+path, "application/json", strings.NewReader(document))
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	return response.StatusCode, string(text)
}

func (s *suite) httpPair(t *testing.T) *sabir.Node {
	c := s.cluster(t)
	service := sabir.NewService("svc")
	sabir.Handle(service, "hello", greet)
	sabir.Handle(service, "inner", greet, sabir.ClusterOnly())
	c.start("server", sabir.Serve(service))
	gateway := c.start("gateway", sabir.HTTP("127.0.0.1:0", web.With(web.Config{Forward: []string{"svc.*"}})))
	must(t, gateway.WaitFor(brief(t), "svc"))
	return gateway
}

func httpElsewhere(t *testing.T, s *suite) {
	gateway := s.httpPair(t)
	if status, answer := post(t, gateway, "/svc/hello", `{"name":"Ada"}`); status != 200 || answer != `{"text":"Hello, Ada","node":"server"}` {
		t.Errorf("got %d, %s", status, answer)
	}
	if status, answer := post(t, gateway, "/svc/hello", `{"name":"a name that is much too long"}`); status != 422 || !contains(answer, "ValidationFailed", "name") {
		t.Errorf("a bad input: %d, %s", status, answer)
	}
}

func httpCluster(t *testing.T, s *suite) {
	gateway := s.httpPair(t)
	if status, answer := post(t, gateway, "/svc/inner", `{"name":"Ada"}`); status != 404 || contains(answer, "Hello") {
		t.Errorf("got %d, %s", status, answer)
	}
}

// guest starts a node with ClientOnly in a cluster that has two nodes, of which the first offers svc.
func (s *suite) observer(t *testing.T, options ...sabir.NodeOption) (c *testCluster, observer *sabir.Node, events <-chan received) {
	got := make(chan received, 10)
	c = s.cluster(t)
	service := listens("svc", got, "thing.happened")
	sabir.Handle(service, "it", greet)
	sabir.HandleStream(service, "stream", double)
	c.start("a", sabir.Serve(service))
	c.start("b", sabir.Serve(reportingService("other")))
	observer = c.join("observer", []cluster.Option{cluster.Config{ClientOnly: true}}, options...)
	return c, observer, got
}

func clientOnlyCalls(t *testing.T, s *suite) {
	_, observer, events := s.observer(t)
	must(t, observer.WaitFor(brief(t), "svc", "other"))
	if out, err := sabir.Call[reply](brief(t), observer, "svc.it", greeting{"Ada"}); err != nil || out.Node != "a" {
		t.Errorf("a call: %+v, %v", out, err)
	}
	for out, err := range sabir.CallStream[int](brief(t), observer, "svc.stream", 4) {
		if err != nil || out != 8 {
			t.Errorf("a stream: %d, %v", out, err)
		}
	}
	must(t, sabir.Emit(brief(t), observer, "thing.happened", greeting{"Ada"}))
	if h := get(t, "the event", events); h.node != "a" || h.text != "Ada" {
		t.Errorf("an event: %+v", h)
	}
}

func clientOnlySees(t *testing.T, s *suite) {
	c, observer, _ := s.observer(t)
	must(t, observer.WaitFor(brief(t), "svc", "other"))
	c.start("late", sabir.Serve(reportingService("late")))
	must(t, observer.WaitFor(brief(t), "late"))
	var names []string
	for _, info := range observer.Nodes() {
		names = append(names, info.ID)
	}
	if !slices.Equal(names, []string{"observer", "a", "b", "late"}) {
		t.Errorf("it sees %v", names)
	}
	if out, err := sabir.Call[string](brief(t), observer, "late.it", 1, sabir.ToNode("late")); err != nil || out != "late on late" {
		t.Errorf("got %s, %v", out, err)
	}
}

func clientOnlyOffersNothing(t *testing.T, s *suite) {
	own := make(chan received, 10)
	service := listens("observers", own, "thing.happened")
	sabir.Handle(service, "it", greet)
	c, observer, events := s.observer(t, sabir.Serve(service))
	must(t, observer.WaitFor(brief(t), "svc", "other"))
	a := c.nodes[0]
	eventually(t, "a lists the client-only node as one", func() bool {
		return slices.ContainsFunc(a.Nodes(), func(info introspect.Node) bool { return info.ID == "observer" && info.ClientOnly && info.Services == 0 })
	})
	if _, err := sabir.Call[reply](brief(t), a, "observers.it", greeting{"Ada"}); !errors.Is(err, sabir.ErrActionNotFound) {
		t.Errorf("a calls the client-only node: %v", err)
	}
	if out, err := sabir.Call[reply](brief(t), observer, "observers.it", greeting{"Ada"}); err != nil || out.Node != "observer" {
		t.Errorf("the client-only node calls itself: %+v, %v", out, err)
	}
	eventually(t, "a knows that the client-only node listens", func() bool {
		return slices.ContainsFunc(a.Services(), func(s introspect.Service) bool { return s.Node == "observer" && s.Name == "observers" })
	})
	must(t, sabir.Broadcast(brief(t), a, "thing.happened", greeting{"Ada"}))
	if len(events) != 1 {
		t.Errorf("a received %d events", len(events))
	}
	if h := get(t, "the event of the client-only node", own); h.text != "Ada" {
		t.Errorf("the client-only node received %+v", h)
	}
}

func clientOnlyAlone(t *testing.T, s *suite) {
	c := s.cluster(t)
	gone := c.start("gone")
	stop(t, gone)
	n := sabir.NewNode(c.options("observer", []cluster.Option{cluster.Config{ClientOnly: true}})...)
	if err := n.Start(brief(t)); !errors.Is(err, sabir.NewError(sabir.CodeUnavailable, errname.JoinFailed, "")) || !contains(err.Error(), c.shown()) {
		t.Errorf("got %v", err)
	}
}

func clientOnlyStays(t *testing.T, s *suite) {
	c, observer, _ := s.observer(t)
	must(t, observer.WaitFor(brief(t), "svc", "other"))
	stop(t, c.nodes[0])
	eventually(t, "the client-only node sees only b", func() bool { return !sees(observer, "a") && sees(observer, "b") })
	c.meet = c.nodes[1].Info().Addr
	c.start("late", sabir.Serve(reportingService("late")))
	must(t, observer.WaitFor(brief(t), "late"))
}
