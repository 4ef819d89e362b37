package moleculer

import (
	"context"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/transport"
)

// deafBus is a bus whose broker delivers nothing.
type deafBus struct{}

func init() { transport.RegisterBus("deaf", deafBus{}) }

func (deafBus) Connect(context.Context, *url.URL, transport.Config, transport.BusEvents) (transport.Broker, error) {
	return deafBroker{}, nil
}

// published is called with what goes to a deaf broker.
var published atomic.Pointer[func(subject string)]

type deafBroker struct{}

func (deafBroker) Publish(subject string, _ []byte) error {
	if took := published.Load(); took != nil {
		(*took)(subject)
	}
	return nil
}
func (d deafBroker) Probe(subject string, data []byte) error { return d.Publish(subject, data) }
func (deafBroker) Subscribe(context.Context, string, func([]byte)) error {
	return nil
}
func (deafBroker) MaxMessage() int { return 1 << 20 }
func (deafBroker) Addr() string    { return "deaf://" }
func (deafBroker) Close() error    { return nil }

// BenchmarkServe answers calls of a Moleculer node, 100 at once, without a broker: what the bridge and the node do for each.
func BenchmarkServe(b *testing.B) {
	const inFlight = 100
	type number struct {
		A int `json:"a"`
	}
	free := make(chan struct{}, 2*inFlight)
	answered := func(subject string) {
		if strings.Contains(subject, ".RES.") {
			free <- struct{}{}
		}
	}
	published.Store(&answered)
	defer published.Store(nil)
	s := sabir.NewService("echo")
	sabir.Handle(s, "reply", func(_ context.Context, in number) (number, error) { return in, nil })
	own := newBridge(configOf(Config{Address: "deaf://x", Expose: []string{"echo.*"}}))
	node := sabir.NewNode(sabir.Serve(s), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.WithExtension(own), sabir.WithGateway(func(*sabir.Node) (gateway.Gateway, error) { return asGateway{own}, nil }))
	if err := node.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer node.Stop(context.Background())
	own.takeInfo([]byte(`{"services":[],"ipList":[],"hostname":"h","client":{"type":"nodejs","version":"0.15.2","langVersion":"v20"},"config":{},"instanceID":"i","metadata":{},"seq":2,"ver":"5","sender":"peer"}`))
	request := []byte(`{"id":"2b9a5c5e-7b0d-4a51-9d4a-6f7f3a3b1c2d","action":"echo.reply","params":{"a":1234},"meta":{},"headers":{},"timeout":null,"level":1,"tracing":null,"parentID":null,` +
		`"requestID":"2b9a5c5e-7b0d-4a51-9d4a-6f7f3a3b1c2d","caller":null,"stream":false,"ver":"5","sender":"peer"}`)
	for range inFlight {
		free <- struct{}{}
	}
	b.ReportAllocs()
	for b.Loop() {
		<-free
		own.takeRequest(slices.Clone(request)) // deliver may keep what it gets
	}
}
