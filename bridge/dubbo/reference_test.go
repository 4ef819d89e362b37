package dubbo_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/codec/hessian"
	"github.com/sabir-go/sabir/internal/brokers"
)

// typed is the table of a provider by the types of parameters; generic that of the same one without.
func typed() dubbo.Interface {
	return dubbo.Interface{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0", Throws: map[string]string{"OutOfStock": "com.shop.OutOfStockException"},
		Methods: []dubbo.Method{{Name: "ping", Parameters: []string{}}, {Name: "add", Parameters: []string{"int", "long"}}, {Name: "place", Parameters: []string{"com.shop.Order"}}, {Name: "find", Parameters: []string{"java.lang.String", "int"}}, {Name: "list", Parameters: []string{"java.lang.String", "java.util.List"}}, {Name: "count", Parameters: []string{"java.util.Map", "boolean"}}, {Name: "price", Parameters: []string{"java.math.BigDecimal", "java.util.Date"}}, {Name: "favourite", Parameters: []string{"com.shop.Color"}}, {Name: "get", Action: "getByNumber", Parameters: []string{"long"}}, {Name: "get", Action: "getByText", Parameters: []string{"java.lang.String"}}, {Name: "bytes", Parameters: []string{"byte[]"}}, {Name: "later", Parameters: []string{"java.lang.String"}}, {Name: "attachments", Parameters: []string{"java.lang.String"}}, {Name: "fail", Parameters: []string{"java.lang.String"}}, {Name: "slow", Parameters: []string{"int"}}, {Name: "$echo", Action: "echo", Parameters: []string{"java.lang.Object"}}},
	}
}

func generic() dubbo.Interface {
	m := dubbo.Interface{Name: "com.shop.OrderService", Service: "anyorders", Version: "1.0.0", Throws: map[string]string{"OutOfStock": "com.shop.OutOfStockException"}}
	for _, name := range []string{"ping", "add", "find", "list", "count", "price", "bytes", "later", "attachments", "fail"} {
		m.Methods = append(m.Methods, dubbo.Method{Name: name})
	}
	return m
}

// ask makes a call, and reports where its answer is another one.
func ask[Out, In any](t *testing.T, node *sabir.Node, action string, in In, want Out) {
	t.Helper()
	got, err := sabir.Bind[In, Out](node, action)(t.Context(), in)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, %v, want %+v", action, got, err, want)
	}
}

type sum struct {
	A int32
	B int64
}

type found struct {
	ID      string
	Version int32
}

type listed struct {
	Customer string
	Numbers  []int32
}

type counted struct {
	Stock map[string]int32
	All   bool
}

type priced struct {
	Net   hessian.Decimal
	Since time.Time
}

// ready starts a provider of Java, and a node that refers to it.
func ready(t *testing.T, scheme string, tables ...dubbo.Interface) (*process, *sabir.Node) {
	t.Helper()
	address := freeAddress(t)
	_, port, _ := strings.Cut(address, ":")
	provider := run(t, "Provider", port, scheme)
	provider.until("ready")
	node := start(t, dubbo.Bridge(dubbo.Config{References: map[string][]dubbo.Interface{scheme + "://" + address: tables}}))
	return provider, node
}

func TestANodeCallsAJavaProviderByName(t *testing.T) {
	brokers.Long(t)
	for _, scheme := range []string{"dubbo", "tri"} {
		t.Run(scheme, func(t *testing.T) { provided(t, scheme) })
	}
}

func provided(t *testing.T, scheme string) {
	provider, node := ready(t, scheme, typed(), generic())
	for _, service := range []string{"orders", "anyorders"} {
		ask(t, node, service+".ping", sabir.Empty{}, "pong")
		ask(t, node, service+".add", sum{2, 40}, int32(42))
		ask(t, node, service+".find", found{"a", 3}, order{ID: "a", Amount: 3, Total: 0.5, Tags: []string{"t"}})
		ask(t, node, service+".list", listed{"Ada", []int32{1, 2}}, []order{{ID: "Ada", Amount: 1}, {ID: "Ada", Amount: 2}})
		ask(t, node, service+".count", counted{map[string]int32{"a": 1}, true}, map[string]int32{"a": 1, "all": 1})
		ask(t, node, service+".price", priced{"1.50", time.UnixMilli(7)}, hessian.Decimal("8.50"))
		ask(t, node, service+".bytes", []byte{1, 200}, []byte{1, 200})
		ask(t, node, service+".later", "soon", "sooner")
		for how, want := range map[string]*sabir.Error{
			"input":    sabir.NewError(sabir.CodeInvalidArgument, "IllegalArgumentException", "no such id"),
			"state":    sabir.NewError(sabir.CodeFailedPrecondition, "IllegalStateException", "closed"),
			"declared": sabir.NewError(sabir.CodeUnknown, "OutOfStock", "none is left"),
		} {
			_, err := sabir.Bind[string, string](node, service+".fail")(t.Context(), how)
			got := sabir.AsError(err)
			if got.Code != want.Code || got.Name != want.Name || got.Message != want.Message {
				t.Errorf("%s.fail by %s: got %v %s %q", service, how, got.Code, got.Name, got.Message)
			}
			if x, ok := errors.AsType[*hessian.Exception](err); !ok || x.Message != want.Message {
				t.Errorf("%s.fail by %s: the exception is %v", service, how, x)
			}
		}
		_, err := sabir.Bind[string, string](node, service+".fail")(t.Context(), "cause")
		if x, ok := errors.AsType[*hessian.Exception](err); service == "orders" && (!ok || x.Cause == nil || x.Cause.Error() != "java.lang.IllegalArgumentException: no key") {
			t.Errorf("%s.fail with a cause: %v of %v", service, err, x)
		}
		ctx, back := dubbo.CollectAttachments(sabir.WithMetadata(t.Context(), "user", "Ada"))
		if got, err := sabir.Bind[string, string](node, service+".attachments")(ctx, "user"); got != "Ada of go" || err != nil {
			t.Errorf("the provider saw %q, %v", got, err)
		}
		if got := back(); len(got) != 1 || got["seen-by"] != "java" {
			t.Errorf("what came back is %v", got)
		}
	}
	ask(t, node, "orders.favourite", color("RED"), color("GREEN"))
	ask(t, node, "orders.echo", "hello", "hello")
	ask(t, node, "orders.getByNumber", int64(7), "number")
	ask(t, node, "orders.getByText", "7", "text")
	placed, err := sabir.Bind[order, *order](node, "orders.place")(t.Context(), order{ID: "p"})
	if err != nil || placed.ID != "p" || placed.Amount != 1 || placed.Parent != placed {
		t.Errorf("the order that was placed is %+v, %v", placed, err)
	}

	// A deadline bounds the call here, whatever the provider does.
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := sabir.Bind[int32, string](node, "orders.slow")(ctx, 60_000); !errors.Is(err, sabir.ErrDeadlineExceeded) {
		t.Errorf("a call beyond its deadline: %v", err)
	}

	// An answer that comes later than the deadline is nobody's: the second call here is answered behind it.
	ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	slow := sabir.Bind[int32, string](node, "orders.slow")
	if _, err := slow(ctx, 400); !errors.Is(err, sabir.ErrDeadlineExceeded) {
		t.Errorf("a call whose answer comes late: %v", err)
	}
	if got, err := slow(t.Context(), 500); got != "done" || err != nil {
		t.Errorf("the call behind one whose answer comes late: %q, %v", got, err)
	}
	ask(t, node, "orders.ping", sabir.Empty{}, "pong")

	standStill(t, provider, node)

	// The calls in flight of one that is killed end, and new ones are refused at once.
	failed := make(chan error)
	go func() {
		_, err := sabir.Bind[int32, string](node, "orders.slow")(t.Context(), 120_000)
		failed <- err
	}()
	for line := range provider.lines {
		if line == "slow = 120000" {
			break
		}
	}
	if err := provider.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !errors.Is(err, sabir.ErrLinkLost) || sabir.AsError(err).Retryable {
		t.Errorf("a call of a provider that was killed: %v", err)
	}
	if _, err := sabir.Bind[sabir.Empty, string](node, "orders.ping")(t.Context(), sabir.Empty{}); !errors.Is(err, sabir.ErrServiceUnavailable) {
		t.Errorf("a call of a provider that has gone: %v", err)
	}
}

func TestReferencesToOneAddressAreOneProviderWithTheInterfacesOfAll(t *testing.T) {
	for _, scheme := range []string{"dubbo", "tri"} {
		provider := sabir.NewService("orders")
		sabir.Handle(provider, "ping", func(context.Context, sabir.Empty) (string, error) { return "pong", nil })
		address := scheme + "://" + freeAddress(t)
		start(t, sabir.Serve(provider), dubbo.Bridge(dubbo.Config{Serve: map[string][]dubbo.Interface{address: {{Name: "com.shop.OrderService", Service: "orders"}, dubbo.Interface{Name: "com.shop.Other", Service: "orders"}}}}))
		node := start(t, dubbo.Bridge(dubbo.Config{
			References: map[string][]dubbo.Interface{address: {{Name: "com.shop.OrderService", Service: "orders", Methods: []dubbo.Method{{Name: "ping"}}}}, address + "/": {{Name: "com.shop.Other", Service: "others", Methods: []dubbo.Method{{Name: "ping"}}}}}}))
		ask(t, node, "orders.ping", sabir.Empty{}, "pong")
		ask(t, node, "others.ping", sabir.Empty{}, "pong")
	}
}

func TestReferencesToOneAddressWithTheSameActionAreRefused(t *testing.T) {
	same := func() dubbo.Interface {
		return dubbo.Interface{Name: "com.shop.OrderService", Service: "orders", Methods: []dubbo.Method{{Name: "ping"}}}
	}
	node := sabir.NewNode(dubbo.Bridge(dubbo.Config{References: map[string][]dubbo.Interface{"tri://10.0.0.9:1": {same()}, "tri://10.0.0.9:1/": {same()}}}))
	if err := node.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "two methods are the action orders.ping") {
		t.Errorf("the node started with %v", err)
	}
}
