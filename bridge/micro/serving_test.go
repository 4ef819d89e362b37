package micro_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/micro"
	"github.com/sabir-go/sabir/internal/httpstrict/stricttest"
)

type place struct {
	Item string `json:"item" validate:"required"`
}

type placed struct {
	Text string `json:"text"`
}

// value has the form of google.protobuf.StringValue.
type value struct {
	Value string `json:"value"`
}

// orders is a service of the Go side.
func orders() *sabir.Service {
	s := sabir.NewService("orders")
	sabir.Handle(s, "place", func(_ context.Context, in place) (placed, error) { return placed{"an order of " + in.Item}, nil })
	sabir.Handle(s, "greet", func(_ context.Context, in value) (value, error) { return value{"Hello, " + in.Value}, nil })
	sabir.Handle(s, "bytes", func(_ context.Context, in []byte) ([]byte, error) { return append([]byte("got "), in...), nil })
	sabir.Handle(s, "info", func(ctx context.Context, _ any) (map[string]any, error) {
		info := sabir.InfoFromContext(ctx)
		deadline, limited := ctx.Deadline()
		return map[string]any{"metadata": sabir.MetadataFromContext(ctx), "caller": info.CalledBy, "request": info.RequestID, "depth": info.Depth,
			"key": micro.Headers(ctx).Get("Authorization"), "limited": limited, "seconds": int(time.Until(deadline).Round(time.Second).Seconds())}, nil
	})
	sabir.Handle(s, "fail", func(context.Context, any) (any, error) {
		return nil, sabir.NewError(sabir.CodeFailedPrecondition, "SoldOut", "none are left: «0»")
	})
	sabir.Handle(s, "sleep", func(ctx context.Context, _ any) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	sabir.Handle(s, "relay", func(ctx context.Context, in value) (json.RawMessage, error) {
		return sabir.Call[json.RawMessage](ctx, sabir.NodeFromContext(ctx), in.Value, map[string]any{"code": 409, "text": "taken"})
	})
	sabir.Handle(s, "large", func(_ context.Context, size int) (string, error) { return string(make([]byte, size)), nil })
	sabir.Handle(s, "secret", func(context.Context, any) (string, error) { return "secret", nil }, sabir.ClusterOnly())
	return s
}

func TestClientsOfGoMicroCallActions(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		lab := startPeer(t, version)
		_, at := serving(t, []sabir.Servable{orders()}, micro.Expose("orders.*"), micro.Endpoint("go.micro.srv.shop", "Shop.Order", "orders.place"),
			micro.Static("lab", []string{lab.address}, "Lab.Fail"))
		for _, c := range []struct {
			behaviour string
			order     order
			out       string
			failed    []string
		}{
			{"JSON", order{Endpoint: "Orders.Place", In: json.RawMessage(`{"item":"tea"}`)}, `{"text":"an order of tea"}`, nil},
			{"Protocol Buffers", order{Endpoint: "Orders.Greet", As: "application/protobuf", In: json.RawMessage(`"Ada"`)}, "Hello, Ada", nil},
			{"an empty message of Protocol Buffers", order{Endpoint: "Orders.Greet", As: "application/protobuf", In: json.RawMessage(`""`)}, "Hello, ", nil},
			{"bytes", order{Endpoint: "Orders.Bytes", As: "application/octet-stream", In: json.RawMessage(`[7]`)}, "got [7]", nil},
			{"an endpoint with a name of its own", order{Service: "go.micro.srv.shop", Endpoint: "Shop.Order", In: json.RawMessage(`{"item":"tea"}`)}, `{"text":"an order of tea"}`, nil},
			{"an error of the handler", order{Endpoint: "Orders.Fail"}, "", []string{`"id":"SoldOut"`, `"code":409`, `"detail":"none are left: «0»"`, `"status":"Conflict"`}},
			{"an error of go-micro further on", order{Endpoint: "Orders.Relay", In: json.RawMessage(`{"value":"lab.fail"}`)}, "", []string{`"id":"lab.fail"`, `"code":409`, `"detail":"taken"`}},
			{"a field that breaks a rule", order{Endpoint: "Orders.Place"}, "", []string{`"code":422`, `"id":"ValidationFailed"`, "item"}},
			{"a field of a wrong type", order{Endpoint: "Orders.Place", In: json.RawMessage(`{"item":7}`)}, "", []string{`"code":400`, `"id":"BadInput"`, "item"}},
			{"the wait of the caller", order{Endpoint: "Orders.Sleep", MS: 200}, "", []string{`"code":408`}},
			{"an unknown method", order{Endpoint: "Orders.Nope"}, "", []string{"rpc: can't find method Nope"}},
			{"an unknown handler", order{Endpoint: "Nobody.Nope"}, "", []string{"rpc: can't find service Nobody"}},
			{"no endpoint", order{Endpoint: "Place"}, "", []string{"rpc: service/endpoint request ill-formed: Place"}},
			{"an unknown service", order{Service: "nobody", Endpoint: "Orders.Place"}, "", []string{"rpc: can't find service Orders"}},
			{"what is not public", order{Endpoint: "Orders.Secret"}, "", []string{"rpc: can't find method Secret"}},
		} {
			c.order.Address = at
			if c.order.Service == "" {
				c.order.Service = "orders"
			}
			a := lab.call(c.order)
			if got := string(a.Out) + a.Text; c.failed == nil && (got != c.out || a.Error != "") {
				t.Errorf("%s: got %s, %s\nwant %s", c.behaviour, got, a.Error, c.out)
			}
			contains(t, "the error of "+c.behaviour, a.Error, c.failed...)
		}
	})
}

func TestHandlersGetMetadataAndDeadlinesOfGoMicro(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		_, at := serving(t, []sabir.Servable{orders()}, micro.Expose("orders.*"))
		a := startPeer(t, version, "-serve=false").call(order{Service: "orders", Endpoint: "Orders.Info", Address: at, MS: 40_000,
			Metadata: map[string]string{"user": "Ada", "Authorization": "Bearer x", "Micro-From-Service": "shop", "X-Request-Id": "r-1", "Sabir.principal": "forged"}})
		want := `{"caller":"shop","depth":1,"key":"Bearer x","limited":true,"metadata":{"user":"Ada"},"request":"r-1","seconds":40}`
		if string(a.Out) != want || a.Error != "" {
			t.Errorf("a handler got %s, %s\nwant %s", a.Out, a.Error, want)
		}
	})
}

func TestRequestsThatCanBeReadInTwoWaysAreRefused(t *testing.T) {
	_, at := serving(t, []sabir.Servable{circle()}, micro.Expose("circle.*"))
	stricttest.AllAreRefused(t, at)
}
