package micro_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/micro"
	"github.com/sabir-go/sabir/codec/protobuf"
)

func TestGRPCClientsOfGoMicroCallActions(t *testing.T) {
	lab := startPeer(t, "v5", "-grpc")
	_, at := serving(t, []sabir.Servable{orders()}, micro.Config{Expose: []string{"orders.*"}, Services: map[string]micro.Service{"lab": {Addresses: []string{"grpc://" + lab.address}, Endpoints: []string{"Lab.Fail"}}}})
	for _, c := range []struct {
		behaviour string
		order     order
		out       string
		failed    []string
	}{
		{"JSON", order{Endpoint: "Orders.Place", As: "application/grpc+json", In: json.RawMessage(`{"item":"tea"}`)}, `{"text":"an order of tea"}`, nil},
		{"Protocol Buffers", order{Endpoint: "Orders.Greet", As: "application/protobuf", In: json.RawMessage(`"Ada"`)}, "Hello, Ada", nil},
		{"an empty message", order{Endpoint: "Orders.Greet", As: "application/protobuf", In: json.RawMessage(`""`)}, "Hello, ", nil},
		{"an error of the handler", order{Endpoint: "Orders.Fail"}, "", []string{`"id":"SoldOut"`, `"code":409`, `"detail":"none are left: «0»"`, `"status":"Conflict"`}},
		{"an error of go-micro further on", order{Endpoint: "Orders.Relay", In: json.RawMessage(`{"value":"lab.fail"}`)}, "", []string{`"id":"lab.fail"`, `"code":409`, `"detail":"taken"`}},
		{"a field of a wrong type", order{Endpoint: "Orders.Place", In: json.RawMessage(`{"item":7}`)}, "", []string{`"code":400`, `"id":"BadInput"`}},
		{"the wait of the caller", order{Endpoint: "Orders.Sleep", MS: 200}, "", []string{`"code":408`}},
		{"an unknown method", order{Endpoint: "Orders.Nope"}, "", []string{`"code":501`, "can't find method Nope"}},
		{"an unknown service", order{Service: "nobody", Endpoint: "Orders.Place"}, "", []string{`"code":501`, "can't find service Orders"}},
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
	a := lab.call(order{Service: "orders", Endpoint: "Orders.Info", Address: at, MS: 40_000, Metadata: map[string]string{"User": "Ada", "Authorization": "Bearer x"}})
	var got struct {
		Metadata map[string]string
		Key      string
		Limited  bool
	}
	if err := json.Unmarshal(a.Out, &got); err != nil || len(got.Metadata) != 1 || got.Metadata["user"] != "Ada" || got.Key != "Bearer x" || !got.Limited {
		t.Errorf("a handler got %s, %s", a.Out, a.Error)
	}
}

func TestGRPCServicesOfGoMicroAreCalledByName(t *testing.T) {
	lab := startPeer(t, "v5", "-grpc")
	c := micro.Config{Services: map[string]micro.Service{"lab": {Addresses: []string{"grpc://" + lab.address}, Endpoints: labEndpoints}}}
	n := node(t, nil, c)
	c.Codec = protobuf.Codec
	out, err := sabir.Call[labOut](t.Context(), n, "lab.add", labIn{A: 2, B: 3, Bytes: []byte{1, 255}})
	if err != nil || out.Sum != 5 || string(out.Bytes) != "\x01\xff" {
		t.Errorf("the sum is %+v, %v", out, err)
	}
	out, err = sabir.Call[labOut](sabir.WithMetadata(t.Context(), "user", "Ada"), n, "lab.info", labIn{}, sabir.WithTimeout(time.Minute))
	if err != nil || out.Metadata["user"] != "Ada" && out.Metadata["User"] != "Ada" || out.Limit < 1 || out.Limit > 60_000 {
		t.Errorf("a handler of go-micro got %+v, %v", out, err)
	}
	if _, err := sabir.Call[labOut](t.Context(), n, "lab.sleep", labIn{MS: 60_000}, sabir.WithTimeout(50*time.Millisecond)); !errors.Is(err, sabir.ErrDeadlineExceeded) {
		t.Errorf("the error at the deadline is %v", err)
	}
	if _, err := sabir.Call[labOut](t.Context(), n, "lab.nope", labIn{}); !errors.Is(err, sabir.ErrActionNotFound) {
		t.Errorf("the error of an unknown endpoint is %v", err)
	}
	_, err = sabir.Call[labOut](t.Context(), n, "lab.fail", labIn{Code: 409, Text: "«no»"})
	if origin, ok := errors.AsType[*micro.Error](err); !ok || origin.Code != 409 || origin.Detail != "«no»" || sabir.AsError(err).Name != "lab.fail" {
		t.Errorf("the error is %+v", origin)
	}
	if _, err := sabir.Call[labOut](t.Context(), n, "lab.fail", labIn{Text: "plain"}); err == nil || sabir.AsError(err).Message != "plain" {
		t.Errorf("the plain error is %v", err)
	}
	greeted, err := sabir.Call[value](t.Context(), node(t, nil, c), "lab.greet", value{"Ada"})
	if err != nil || greeted.Value != "Hello, Ada" {
		t.Errorf("got %+v, %v", greeted, err)
	}
}

func TestACallOverGRPCMayTakeLongerThanAServerBearsPings(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("a server of grpc-go ends a connection by the fourth ping without an answer of its own: pings of 5 s showed that after 20 s")
	}
	lab := startPeer(t, "v5", "-grpc")
	n := node(t, nil, micro.Config{Services: map[string]micro.Service{"lab": {Addresses: []string{"grpc://" + lab.address}, Endpoints: labEndpoints}}})
	if _, err := sabir.Call[labOut](t.Context(), n, "lab.sleep", labIn{MS: 25_000}, sabir.WithTimeout(time.Minute)); err != nil {
		t.Errorf("the call failed: %v", err)
	}
}

func TestCallsOfAKilledGRPCServiceEnd(t *testing.T) {
	lab := startPeer(t, "v5", "-grpc")
	n := node(t, nil, micro.Config{Services: map[string]micro.Service{"lab": {Addresses: []string{"grpc://" + lab.address}, Endpoints: labEndpoints}}})
	failed := make(chan error, 1)
	go func() {
		_, err := sabir.Call[labOut](t.Context(), n, "lab.sleep", labIn{MS: 60_000})
		failed <- err
	}()
	if _, err := sabir.Call[labOut](t.Context(), n, "lab.add", labIn{}); err != nil {
		t.Fatal(err)
	}
	lab.process.Process.Kill()
	select {
	case err := <-failed:
		if e := sabir.AsError(err); e == nil || e.Name != sabir.ErrLinkLost.Name && e.Name != sabir.ErrServiceUnavailable.Name {
			t.Errorf("the call in flight ended with %v", err)
		}
	case <-time.After(waitLimit):
		t.Fatal("the call in flight did not end")
	}
}

func TestMalformedFramesAreRefused(t *testing.T) {
	_, at := serving(t, []sabir.Servable{orders()}, micro.Config{Expose: []string{"orders.*"}})
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	defer transport.CloseIdleConnections()
	for _, c := range []struct{ what, path, contentType, body, status, message string }{
		{"no message", "/orders.Orders/Place", "application/grpc+json", "", "3", "BadInput"},
		{"half a head", "/orders.Orders/Place", "application/grpc+json", "\x00\x00", "3", "BadInput"},
		{"a message that ends too early", "/orders.Orders/Place", "application/grpc+json", "\x00\x00\x00\x00\x09{", "3", "BadInput"},
		{"a length of 4 GB", "/orders.Orders/Place", "application/grpc+json", "\x00\xff\xff\xff\xff{", "8", "MessageTooLarge"},
		{"a compressed message", "/orders.Orders/Place", "application/grpc+json", "\x01\x00\x00\x00\x01{", "3", "compressed"},
		{"another content type", "/orders.Orders/Place", "application/grpc+thrift", "", "3", "unsupported"},
		{"a path that is none", "/x", "application/grpc", "", "12", "rpc:"},
		{"no path", "/", "application/grpc", "", "12", "rpc:"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+at+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", c.contentType)
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if status, message := response.Header.Get("Grpc-Status"), response.Header.Get("Grpc-Message"); len(response.Trailer) > 0 || status != c.status || !strings.Contains(message, c.message) {
			t.Errorf("%s: %s %s", c.what, status, message)
		}
	}
}

func TestGRPCServicesAreKnownByMDNS(t *testing.T) {
	lab := ownName("labgrpc")
	startPeer(t, "v5", "-mdns", "-grpc", "-name="+lab)
	n := node(t, nil, micro.Config{MDNS: true})
	if err := n.WaitFor(t.Context(), lab); err != nil {
		t.Fatal(err)
	}
	if out, err := sabir.Call[labOut](t.Context(), n, lab+".lab.add", labIn{A: 2, B: 3}); err != nil || out.Sum != 5 {
		t.Errorf("the sum is %+v, %v", out, err)
	}
}
