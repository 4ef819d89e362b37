package micro_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/micro"
	"github.com/sabir-go/sabir/codec/protobuf"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/errname"
)

type labIn struct {
	A     int    `json:"a"`
	B     int    `json:"b"`
	Text  string `json:"text"`
	Bytes []byte `json:"bytes"`
	Code  int    `json:"code"`
	MS    int    `json:"ms"`
}

type labOut struct {
	Sum      int               `json:"sum"`
	Text     string            `json:"text"`
	Bytes    []byte            `json:"bytes"`
	Metadata map[string]string `json:"metadata"`
	Limit    int               `json:"limit"`
}

var labEndpoints = []string{"Lab.Add", "Lab.Info", "Lab.Fail", "Lab.Sleep", "Lab.Greet", "Lab.Nope"}

func TestServicesOfGoMicroAreCalledByName(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		lab := startPeer(t, version)
		n := node(t, nil, micro.Config{Services: map[string]micro.Service{"lab": {Addresses: []string{lab.address}, Endpoints: labEndpoints}}})
		out, err := sabir.Call[labOut](t.Context(), n, "lab.add", labIn{A: 2, B: 3, Bytes: []byte{1, 255}})
		if err != nil || out.Sum != 5 || string(out.Bytes) != "\x01\xff" {
			t.Errorf("the sum is %+v, %v", out, err)
		}
		ctx := sabir.WithMetadata(sabir.WithRequestID(t.Context(), "r-2"), "user", "Ada")
		out, err = sabir.Call[labOut](ctx, n, "lab.info", labIn{}, sabir.WithTimeout(time.Minute))
		if err != nil || out.Metadata["User"] != "Ada" || out.Metadata["X-Request-Id"] != "r-2" || out.Metadata["Sabir-Depth"] != "1" || out.Limit < 1 || out.Limit > 60_000 {
			t.Errorf("a handler of go-micro got %+v, %v", out, err)
		}
		if _, err := sabir.Call[labOut](t.Context(), n, "lab.sleep", labIn{MS: 60_000}, sabir.WithTimeout(50*time.Millisecond)); !errors.Is(err, sabir.ErrDeadlineExceeded) {
			t.Errorf("the error at the deadline is %v", err)
		}
		if nodes := n.Nodes(); len(nodes) != 2 || nodes[1].Framework != "go-micro" || nodes[1].ID != "lab@"+lab.address {
			t.Errorf("the nodes are %+v", nodes)
		}
	})
}

// A server of go-micro is not done with a call when it has answered it, and lost what came in the meantime over the same connection.
func TestEachOfManyCallsOverOneConnectionIsAnswered(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		n := node(t, nil, micro.Config{Services: map[string]micro.Service{"lab": {Addresses: []string{startPeer(t, version).address}, Endpoints: labEndpoints}}})
		ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
		defer cancel()
		for i := range 500 {
			if out, err := sabir.Call[labOut](ctx, n, "lab.add", labIn{A: i}); err != nil || out.Sum != i {
				t.Fatalf("call %d: %+v, %v", i, out, err)
			}
		}
	})
}

func TestErrorsOfGoMicroHaveTheirMeaning(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		n := node(t, nil, micro.Config{Services: map[string]micro.Service{"lab": {Addresses: []string{startPeer(t, version).address}, Endpoints: labEndpoints}}})
		for _, c := range []struct {
			action string
			code   int
			text   string
			want   *sabir.Error
		}{
			{"lab.fail", 400, "because", sabir.NewError(sabir.CodeInvalidArgument, "lab.fail", "")},
			{"lab.fail", 401, "because", sabir.NewError(sabir.CodeUnauthenticated, "lab.fail", "")},
			{"lab.fail", 404, "because", sabir.NewError(sabir.CodeNotFound, "lab.fail", "")},
			{"lab.fail", 408, "because", sabir.ErrDeadlineExceeded},
			{"lab.fail", 409, "because", sabir.NewError(sabir.CodeAborted, "lab.fail", "")},
			{"lab.fail", 500, "because", sabir.NewError(sabir.CodeInternal, "lab.fail", "")},
			{"lab.fail", 503, "because", sabir.NewError(sabir.CodeUnavailable, "lab.fail", "")},
			{"lab.fail", 0, "because", sabir.NewError(sabir.CodeUnknown, sabir.ErrHandlerFailed.Name, "")},
			{"lab.fail", 0, context.DeadlineExceeded.Error(), sabir.ErrDeadlineExceeded},
			{"lab.nope", 0, "because", sabir.ErrActionNotFound},
		} {
			_, err := sabir.Call[labOut](t.Context(), n, c.action, labIn{Code: c.code, Text: c.text})
			if !errors.Is(err, c.want) || sabir.AsError(err).Retryable {
				t.Errorf("%s %d %q: %#v", c.action, c.code, c.text, sabir.AsError(err))
			}
			if origin, ok := errors.AsType[*micro.Error](err); c.action == "lab.fail" && (!ok || origin.Code != int32(c.code) || origin.Detail != c.text) {
				t.Errorf("%d: go-micro's error is %+v", c.code, origin)
			}
		}
	})
}

func TestCallsMayBeProtocolBuffers(t *testing.T) {
	versions(t, func(t *testing.T, version string) {
		n := node(t, nil, micro.Config{Codec: protobuf.Codec, Services: map[string]micro.Service{"lab": {Addresses: []string{startPeer(t, version).address}, Endpoints: labEndpoints}}})
		out, err := sabir.Call[value](t.Context(), n, "lab.greet", value{"Ada"})
		if err != nil || out.Value != "Hello, Ada" {
			t.Errorf("got %+v, %v", out, err)
		}
		if _, err := sabir.Call[labOut](t.Context(), n, "lab.add", labIn{A: 1}); err == nil {
			t.Error("a handler whose types are no messages took Protocol Buffers")
		}
	})
}

func TestACircleOfCallsThroughGoMicroEnds(t *testing.T) {
	at, err := brokers.FreeAddress("tcp")
	if err != nil {
		t.Fatal(err)
	}
	n := node(t, []sabir.Servable{circle()}, micro.Config{Listen: at, Endpoints: []micro.Endpoint{{Service: "again", Name: "Circle.Turn", Action: "circle.turn"}}, Services: map[string]micro.Service{"again": {Addresses: []string{at}, Endpoints: []string{"Circle.Turn"}}}})
	_, err = sabir.Call[int](t.Context(), n, "circle.turn", 0)
	if e := sabir.AsError(err); e == nil || e.Name != errname.TooManyLevels {
		t.Errorf("the circle ended with %v", err)
	}
}

func circle() *sabir.Service {
	s := sabir.NewService("circle")
	sabir.Handle(s, "turn", func(ctx context.Context, in int) (int, error) {
		return sabir.Call[int](ctx, sabir.NodeFromContext(ctx), "again.circle.turn", in+1)
	})
	return s
}
