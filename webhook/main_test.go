package webhook_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/sabirtest"
	"github.com/sabir-go/sabir/webhook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Stopping(m)) }

// Nodes without a logger of their own log nothing.
func init() { slog.SetDefault(slog.New(slog.DiscardHandler)) }

// waitLimit is the time that a test waits for what must come, on a machine that has much else to do.
const waitLimit = time.Minute

const (
	secret      = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	otherSecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
)

// here lets a client call receivers of the test.
var here = &webhook.Client{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}

type placed struct {
	ID   string `json:"id"`
	Text string `json:"text,omitempty"`
}

// taken is an event as a handler of the cluster got it.
type taken struct {
	name    string
	payload placed
}

// orders is a service that handles the events of orders.
func orders() (*sabir.Service, chan taken) {
	s, got := sabir.NewService("orders"), make(chan taken, 1000)
	sabir.On(s, "orders.*", func(ctx context.Context, p placed) error {
		got <- taken{sabir.InfoFromContext(ctx).Event, p}
		return nil
	})
	return s, got
}

// start runs a node with a broker for the length of a test.
func start(tb testing.TB, services []*sabir.Service, options ...gateway.HTTPOption) *sabir.Node {
	tb.Helper()
	all := []sabir.NodeOption{sabir.NodeID("n1"), channel.Broker("mem://"), sabir.HTTP(":0", options...)}
	for _, s := range services {
		all = append(all, sabir.Serve(s))
	}
	return sabirtest.Start(tb, all...)
}

// post sends a request and returns its status and the text of its answer.
func post(tb testing.TB, method, url, body string, header http.Header) (int, string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	if r.Header = header.Clone(); r.Header == nil {
		r.Header = http.Header{}
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return answer.StatusCode, string(text)
}
