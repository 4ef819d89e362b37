package trpc_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/sabirtest"
	"github.com/sabir-go/sabir/trpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Stopping(m)) }

// Nodes without a logger of their own log nothing.
func init() { slog.SetDefault(slog.New(slog.DiscardHandler)) }

// waitLimit is the time that a test waits for what must come, on a machine that has much else to do.
const waitLimit = time.Minute

type order struct {
	ID      string    `json:"id" validate:"required,max=8"`
	Count   int       `json:"count,omitempty"`
	At      time.Time `json:"at,omitzero"`
	Picture []byte    `json:"picture,omitempty"`
	Big     int64     `json:"big,omitempty"`
}

type byID struct {
	ID string `json:"id" validate:"required,max=8"`
}

type upTo struct {
	N int `json:"n"`
}

var errNoSuchOrder = sabir.NewError(sabir.CodeNotFound, "NoSuchOrder", "there is no such order")

// orders is a service with an action for each way that a call can go.
func orders() *sabir.Service {
	s := sabir.NewService("orders")
	get := func(_ context.Context, in byID) (order, error) {
		if in.ID == "none" {
			return order{}, errNoSuchOrder.WithData(map[string]int{"left": 3})
		}
		return order{ID: in.ID}, nil
	}
	sabir.Handle(s, "get", get, sabir.Route("GET", "/orders/{id}"), sabir.Doc("finds an order"))
	sabir.Handle(s, "list", func(context.Context, sabir.Empty) ([]order, error) { return []order{{ID: "o-1"}}, nil }, sabir.Route("GET", "/orders"))
	sabir.Handle(s, "create", func(_ context.Context, in order) (order, error) { return in, nil })
	sabir.Handle(s, "touch", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
		return sabir.Empty{}, sabir.Answer(ctx).SetHeader("Set-Cookie", "touched=1")
	})
	sabir.Handle(s, "panic", func(context.Context, sabir.Empty) (sabir.Empty, error) { panic("hunter2") })
	sabir.Handle(s, "secret", func(context.Context, sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, nil }, sabir.ClusterOnly())
	sabir.HandleStream(s, "count", func(_ context.Context, stream *sabir.Stream[upTo, int]) error {
		in, err := stream.Recv()
		if err != nil {
			return err
		}
		if in.N < 0 {
			return sabir.NewError(sabir.CodeInvalidArgument, "TooFew", "count upwards")
		}
		for i := range in.N {
			if i == 5 {
				return sabir.NewError(sabir.CodeFailedPrecondition, "TooMany", "that is enough")
			}
			if err := stream.Send(i); err != nil {
				return err
			}
		}
		return nil
	}, sabir.ServerStream())
	sabir.HandleStream(s, "sum", func(_ context.Context, stream *sabir.Stream[int, int]) error { return stream.Send(0) }, sabir.ClientStream())
	return s
}

// start runs a node for the length of a test and returns the URL of its HTTP side.
func start(tb testing.TB, services []*sabir.Service, options ...gateway.HTTPOption) (*sabir.Node, string) {
	tb.Helper()
	all := []sabir.NodeOption{sabir.NodeID("n1"), sabir.HTTP(":0", append(options, trpc.At("/trpc"))...)}
	for _, s := range services {
		all = append(all, sabir.Serve(s))
	}
	node := sabirtest.Start(tb, all...)
	return node, "http://" + node.HTTPAddr()
}

func startOrders(tb testing.TB, options ...gateway.HTTPOption) string {
	tb.Helper()
	_, base := start(tb, []*sabir.Service{orders()}, options...)
	return base + "/trpc/"
}

// raw is an answer as it came.
type raw struct {
	status int
	header http.Header
	body   string
}

// send sends one request on a connection of its own.
func send(tb testing.TB, method, url, body string, header ...string) raw {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return raw{response.StatusCode, response.Header, string(text)}
}
