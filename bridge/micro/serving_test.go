package micro_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
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
		return map[string]any{"metadata": sabir.InfoFromContext(ctx).Metadata, "caller": info.CalledBy, "request": info.RequestID, "depth": info.Depth,
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
		_, at := serving(t, []sabir.Servable{orders()}, micro.Config{Expose: []string{"orders.*"}, Endpoints: []micro.Endpoint{{Service: "go.micro.srv.shop", Name: "Shop.Order", Action: "orders.place"}},
			Services: map[string]micro.Service{"lab": {Addresses: []string{lab.address}, Endpoints: []string{"Lab.Fail"}}}})
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
			{"JSON-RPC", order{Endpoint: "Orders.Place", As: "application/json-rpc", In: json.RawMessage(`{"item":"tea"}`)}, `{"text":"an order of tea"}`, nil},
			{"an error in JSON-RPC", order{Endpoint: "Orders.Fail", As: "application/json-rpc"}, "", []string{`"id":"SoldOut"`, `"code":409`, "«0»"}},
			{"Protocol Buffers with an envelope", order{Endpoint: "Orders.Greet", As: "application/proto-rpc", In: json.RawMessage(`"Ada"`)}, "Hello, Ada", nil},
			{"an empty message with an envelope", order{Endpoint: "Orders.Greet", As: "application/proto-rpc", In: json.RawMessage(`""`)}, "Hello, ", nil},
			{"an error with an envelope", order{Endpoint: "Orders.Nope", As: "application/proto-rpc", In: json.RawMessage(`"Ada"`)}, "", []string{"rpc: can't find method Nope"}},
			{"frames of gRPC with JSON", order{Endpoint: "Orders.Place", As: "application/grpc+json", In: json.RawMessage(`{"item":"tea"}`)}, `{"text":"an order of tea"}`, nil},
			{"frames of gRPC with Protocol Buffers", order{Endpoint: "Orders.Greet", As: "application/grpc+proto", In: json.RawMessage(`"Ada"`)}, "Hello, Ada", nil},
			{"frames of gRPC", order{Endpoint: "Orders.Greet", As: "application/grpc", In: json.RawMessage(`""`)}, "Hello, ", nil},
			{"an error with frames of gRPC", order{Endpoint: "Orders.Fail", As: "application/grpc+json"}, "", []string{`"id":"SoldOut"`, `"code":409`}},
			{"an endpoint with a name of its own", order{Service: "go.micro.srv.shop", Endpoint: "Shop.Order", In: json.RawMessage(`{"item":"tea"}`)}, `{"text":"an order of tea"}`, nil},
			{"an error of the handler", order{Endpoint: "Orders.Fail"}, "", []string{`"id":"SoldOut"`, `"code":409`, `"detail":"none are left: «0»"`, `"status":"Conflict"`}},
			{"an error of go-micro further on", order{Endpoint: "Orders.Relay", In: json.RawMessage(`{"value":"lab.fail"}`)}, "", []string{`"id":"lab.fail"`, `"code":409`, `"detail":"taken"`}},
			{"a field that breaks a rule", order{Endpoint: "Orders.Place"}, "", []string{`"code":422`, `"id":"ValidationFailed"`, "item"}},
			{"a field of a wrong type", order{Endpoint: "Orders.Place", In: json.RawMessage(`{"item":7}`)}, "", []string{`"code":400`, `"id":"BadInput"`, "item"}},
			{"the wait of the caller", order{Endpoint: "Orders.Sleep", MS: 200}, "", []string{`"code":408`}},
			{"the wait of the client", order{Endpoint: "Orders.Sleep", Request: 200}, "", []string{`"code":408`, `"id":"go.micro.client"`}},
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

// go-micro's clients are told to repeat calls up to five times by default.
func TestClientsOfGoMicroRepeatWhatTookTooLong(t *testing.T) {
	overBoth(t, func(t *testing.T, lab *peer, grpc bool) {
		var mu sync.Mutex
		runs := make(map[string]int)
		s := sabir.NewService("work")
		sabir.Handle(s, "fail", func(_ context.Context, in value) (value, error) {
			mu.Lock()
			runs[in.Value]++
			mu.Unlock()
			code, again := map[string]sabir.Code{"408": sabir.CodeDeadlineExceeded, "409": sabir.CodeAborted, "500": sabir.CodeInternal, "503": sabir.CodeUnavailable}[in.Value], in.Value == "503"
			err := sabir.NewError(code, "Refused", "no")
			if again {
				err = err.AsRetryable()
			}
			return value{}, err
		})
		_, at := serving(t, []sabir.Servable{s}, micro.Config{Expose: []string{"work.*"}})
		as := "application/json"
		if grpc {
			as = "application/grpc+json"
		}
		for status, want := range map[string]int{"408": 2, "409": 1, "500": 1, "503": 1} {
			a := lab.call(order{Service: "work", Endpoint: "Work.Fail", As: as, Address: at, In: json.RawMessage(`{"value":"` + status + `"}`), Retries: 1})
			contains(t, "the error", a.Error, `"code":`+status)
			mu.Lock()
			if runs[status] != want {
				t.Errorf("a call that failed with %s ran %d times, want %d", status, runs[status], want)
			}
			mu.Unlock()
		}
	})
}

// go-micro's own servers take HTTP/2 without TLS too, which its clients do not speak, and proxies may.
func TestCallsMayComeOverHTTP2(t *testing.T) {
	_, at := serving(t, []sabir.Servable{placer("orders")}, micro.Config{Expose: []string{"orders.*"}})
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	defer transport.CloseIdleConnections()
	for body, want := range map[string]string{`{"item":"tea"}`: `{"text":"an order of tea"} `, `{}`: ` {"id":"ValidationFailed","code":422`} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+at, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Micro-Service": {"orders"}, "Micro-Endpoint": {"Orders.Place"}}
		response, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		response.Body.Close()
		if got := string(text) + " " + response.Header.Get("Micro-Error"); err != nil || response.ProtoMajor != 2 || response.StatusCode != 200 || !strings.HasPrefix(got, want) {
			t.Errorf("%s: HTTP/%d %s %s, %v", body, response.ProtoMajor, response.Status, got, err)
		}
	}
}

func TestHandlersGetMetadataAndDeadlinesOfGoMicro(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		_, at := serving(t, []sabir.Servable{orders()}, micro.Config{Expose: []string{"orders.*"}})
		a := startPeer(t, version, "-serve=false").call(order{Service: "orders", Endpoint: "Orders.Info", Address: at, MS: 40_000,
			Metadata: map[string]string{"user": "Ada", "Authorization": "Bearer x", "Micro-From-Service": "shop", "X-Request-Id": "r-1", "Sabir.principal": "forged"}})
		want := `{"caller":"shop","depth":1,"key":"Bearer x","limited":true,"metadata":{"user":"Ada"},"request":"r-1","seconds":40}`
		if string(a.Out) != want || a.Error != "" {
			t.Errorf("a handler got %s, %s\nwant %s", a.Out, a.Error, want)
		}
	})
}

// A handler must not take a part of the metadata for the whole.
func TestACallWithMoreMetadataThanThereMayBeFails(t *testing.T) {
	_, at := serving(t, []sabir.Servable{orders()}, micro.Config{Expose: []string{"orders.*"}})
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"HTTP", []string{"-serve=false"}, `{"id":"HeadTooLarge","code":429,"detail":"the metadata has 2 members with 33800 bytes: 64 with 32768 are the limit","status":"Too Many Requests"}`},
		{"gRPC", []string{"-serve=false", "-grpc"}, `{"id":"HeadTooLarge","code":429,"detail":"the metadata has 2 members with 33800 bytes: 64 with 32768 are the limit","status":"Too Many Requests"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := startPeer(t, "v5", c.args...).call(order{Service: "orders", Endpoint: "Orders.Info", Address: at, MS: 40_000,
				Metadata: map[string]string{"user": "Ada", "a": strings.Repeat("x", 33<<10)}})
			if a.Error != c.want {
				t.Errorf("%s %s", a.Error, a.Out)
			}
		})
	}
}

func TestRequestsThatCanBeReadInTwoWaysAreRefused(t *testing.T) {
	_, at := serving(t, []sabir.Servable{circle()}, micro.Config{Expose: []string{"circle.*"}})
	stricttest.AllAreRefused(t, at)
}
