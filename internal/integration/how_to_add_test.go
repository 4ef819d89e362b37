package integration

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/errname"
	_ "github.com/sabir-go/sabir/internal/gossip"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
)

// counted is the new transport of the steps: memory under a scheme of its own, whose connections it counts.
type counted struct {
	inner transport.Stream
	dials atomic.Int64
}

func (c *counted) at(u *url.URL) *url.URL {
	inner := *u
	inner.Scheme = "mem"
	return &inner
}

func (c *counted) Listen(ctx context.Context, at *url.URL, config transport.Config) (transport.Listener, error) {
	l, err := c.inner.Listen(ctx, c.at(at), config)
	if err != nil {
		return nil, err
	}
	return countedListener{l}, nil
}

func (c *counted) Dial(ctx context.Context, to *url.URL, config transport.Config) (net.Conn, error) {
	c.dials.Add(1)
	return c.inner.Dial(ctx, c.at(to), config)
}

type countedListener struct{ transport.Listener }

// Addr has the scheme under which others dial the transport.
func (l countedListener) Addr() string {
	return "counted" + strings.TrimPrefix(l.Listener.Addr(), "mem")
}

var countedTransport = func() *counted {
	inner, _ := transports.Stream("mem")
	return &counted{inner: inner}
}()

func init() { transport.Register("counted", countedTransport) } // step 2

func TestATransportIsAddedByTheStepsOfTheArchitecturePage(t *testing.T) {
	t.Run("step 3, the suite", func(t *testing.T) {
		if testing.Short() {
			t.Skip("transport/mem runs it too")
		}
		transporttest.Stream(t, func(*testing.T) (string, transport.Config) {
			return "counted://suite", transport.Config{Name: "dialler"}
		})
	})
	t.Run("two nodes", func(t *testing.T) {
		near := started(t, sabir.NodeID("near"), sabir.Join("counted://near", cluster.Config{Seeds: []string{"counted://far"}}))
		started(t, sabir.NodeID("far"), sabir.Join("counted://far"), sabir.Serve(echo()))
		if err := near.WaitFor(t.Context(), "echo"); err != nil {
			t.Fatal(err)
		}
		if got, err := sabir.Call[article](t.Context(), near, "echo.say", article{ID: 7}); err != nil || got.ID != 7 || countedTransport.dials.Load() == 0 {
			t.Errorf("got %+v, %v, after %d dials", got, err, countedTransport.dials.Load())
		}
	})
}

// quota is the new policy of the steps: so many calls of an action, and no more.
type quota struct{ Calls int64 }

var errQuota = sabir.NewError(sabir.CodeResourceExhausted, "QuotaUsedUp", "the quota is used up")

// Middleware makes the policy's state once for each action.
func (q quota) Middleware() sabir.Middleware {
	return sabir.Middleware{Name: "quota", Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		if q.Calls <= 0 {
			a.Reject("quota: Calls is %d, want 1 or more", q.Calls) // step 3
			return next
		}
		var calls atomic.Int64
		return func(ctx context.Context, r *sabir.Request) error {
			if calls.Add(1) > q.Calls {
				return errQuota
			}
			return next(ctx, r)
		}
	}}
}

func TestAPolicyIsAddedByTheStepsOfTheArchitecturePage(t *testing.T) {
	node := started(t, sabir.Serve(echo(sabir.Use(quota{Calls: 1_000_000}))))
	say := sabir.Bind[article, article](node, "echo.say")
	t.Run("step 2, the state of each action", func(t *testing.T) {
		one := started(t, sabir.Serve(echo(sabir.Use(quota{Calls: 1}))))
		if _, err := sabir.Call[article](t.Context(), one, "echo.say", article{}); err != nil {
			t.Fatal(err)
		}
		if _, err := sabir.Call[article](t.Context(), one, "echo.say", article{}); !errors.Is(err, errQuota) {
			t.Errorf("the second call gave %v", err)
		}
	})
	t.Run("step 3, settings that cannot work", func(t *testing.T) {
		err := sabir.NewNode(sabir.Logger(quiet), sabir.Serve(echo(sabir.Use(quota{})))).Start(t.Context())
		if !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadService", "")) || !strings.Contains(fmt.Sprint(err), "want 1 or more") {
			t.Errorf("the node starts with %v", err)
		}
	})
	t.Run("step 4, a call that passes allocates nothing", func(t *testing.T) {
		if n := testing.AllocsPerRun(100, func() {
			if _, err := say(context.Background(), article{ID: 7}); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// Balancers are inside: the steps are those of the ones that are there.
func TestEachBalancerHasWhatTheArchitecturePageAsksFor(t *testing.T) {
	page, err := os.ReadFile("../../docs/joining.md")
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for b := cluster.Balancer(0); !strings.HasPrefix(b.String(), "Balancer("); b++ {
		names++
		node := started(t, sabir.Balance(b), sabir.Serve(echo())) // step 2: sabir.Balance takes it
		if _, err := sabir.Call[article](t.Context(), node, "echo.say", article{}); err != nil {
			t.Errorf("%v: %v", b, err)
		}
		if constant := fmt.Sprintf("cluster.%s", balancerConstants[b]); !strings.Contains(string(page), constant) { // step 3
			t.Errorf("docs/joining.md does not name %s", constant)
		}
	}
	if names != len(balancerConstants) {
		t.Errorf("there are %d balancers, and this test knows %d", names, len(balancerConstants))
	}
}

var balancerConstants = map[cluster.Balancer]string{
	cluster.RoundRobin: "RoundRobin", cluster.Random: "Random", cluster.LeastInFlight: "LeastInFlight", cluster.EWMA: "EWMA", cluster.Hash: "Hash",
}

// bridge is the new way in of the steps: a function call in place of a protocol.
type bridge struct {
	node *sabir.Node
	open atomic.Bool
}

func (b *bridge) Name() string                { return "bridge" }
func (b *bridge) Start(context.Context) error { b.open.Store(true); return nil }
func (b *bridge) Stop(context.Context) error  { b.open.Store(false); return nil }

func (b *bridge) serve(ctx context.Context, action, body string) (string, error) {
	if len(body) > 1000 { // step 3: before anything is decoded
		return "", sabir.NewError(sabir.CodeInvalidArgument, errname.InputTooLarge, "")
	}
	a := b.node.Action(action)
	if a == nil || !a.Public() {
		return "", sabir.ErrActionNotFound
	}
	answer, err := a.ServeJSON(gateway.Inbound{Context: ctx, RequestID: "r-1"}, nil, []byte(body))
	return string(answer), err
}

func TestAWayInIsAddedByTheStepsOfTheArchitecturePage(t *testing.T) {
	var way *bridge
	hidden := sabir.NewService("hidden")
	sabir.Handle(hidden, "say", func(context.Context, article) (article, error) { return article{}, nil }, sabir.NodeOnly())
	node := sabir.NewNode(sabir.Logger(quiet), sabir.Serve(echo(), hidden), sabir.WithGateway(func(n *sabir.Node) (gateway.Gateway, error) {
		way = &bridge{node: n}
		return way, nil
	}))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !way.open.Load() {
		t.Error("the node runs, and its gateway was not started")
	}
	if answer, err := way.serve(t.Context(), "echo.say", `{"id":7}`); err != nil || !strings.Contains(answer, "7") {
		t.Errorf("a public action gave %q, %v", answer, err)
	}
	if _, err := way.serve(t.Context(), "hidden.say", `{}`); !errors.Is(err, sabir.ErrActionNotFound) {
		t.Errorf("an action that is not public gave %v", err)
	}
	if _, err := way.serve(t.Context(), "echo.say", `{"id":`); !errors.Is(err, sabir.ErrBadInput) {
		t.Errorf("an input that cannot be read gave %v", err)
	}
	if err := node.Stop(context.Background()); err != nil || way.open.Load() {
		t.Errorf("the node stopped with %v; the gateway is open: %v", err, way.open.Load())
	}
}

// echo is a service with an action that answers with its input.
func echo(options ...sabir.ServiceOption) *sabir.Service {
	s := sabir.NewService("echo", options...)
	sabir.Handle(s, "say", func(_ context.Context, in article) (article, error) { return in, nil })
	return s
}
