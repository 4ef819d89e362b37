package cart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/admin"
	users "github.com/sabir-go/sabir/examples/tutorial/01-users"
	"github.com/sabir-go/sabir/telemetry"
)

// addLamps starts a node with carts, and puts two lamps into Ada's.
func addLamps(t *testing.T) int {
	t.Helper()
	ctx := t.Context()
	// doc: node
	st, err := store.Open(ctx, "mem://carts") // or redis://127.0.0.1:6379, or nats://embedded?store=data
	if err != nil {
		t.Fatal(err)
	}
	system := actor.NewSystem(actor.Config{})
	grains := grain.New(system, grain.Config{Store: st}, Kind)
	node := sabir.NewNode(system.Option(), grains.Option(), sabir.Logger(slog.New(slog.DiscardHandler)))
	// end
	if err := node.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.Background())
	// doc: call
	lamps, err := grain.Call[int](ctx, system, Kind.Key("ada"), Add{Item: "lamp", Count: 2})
	// end
	if err != nil {
		t.Fatal(err)
	}
	return lamps
}

func TestACartSurvivesItsNode(t *testing.T) {
	if got := addLamps(t); got != 2 {
		t.Errorf("%d lamps, want 2", got)
	}
	if got := addLamps(t); got != 4 {
		t.Errorf("%d lamps after another node has come, want 4", got)
	}
}

func TestACartThatWasShownDoesNotChange(t *testing.T) {
	ctx := t.Context()
	st, err := store.Open(ctx, "mem://shown")
	if err != nil {
		t.Fatal(err)
	}
	system := actor.NewSystem(actor.Config{})
	grains := grain.New(system, grain.Config{Store: st}, Kind)
	node := sabir.NewNode(system.Option(), grains.Option(), sabir.Logger(slog.New(slog.DiscardHandler)))
	if err := node.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.Background())
	add := func() error {
		_, err := grain.Call[int](ctx, system, Kind.Key("ada"), Add{Item: "lamp", Count: 1})
		return err
	}
	if err := add(); err != nil {
		t.Fatal(err)
	}
	shown, err := grain.Call[Items](ctx, system, Kind.Key("ada"), Show{})
	before := shown["lamp"]
	if err := errors.Join(err, add()); err != nil || before == 0 || shown["lamp"] != before {
		t.Errorf("%d lamps were shown, and then there are %d: %v", before, shown["lamp"], err)
	}
}

func TestMetricsCountCalls(t *testing.T) {
	ctx := t.Context()
	// doc: telemetry
	tel, err := telemetry.New(telemetry.Config{Prometheus: true, CallLog: slog.Default()})
	if err != nil {
		t.Fatal(err)
	}
	node := sabir.NewNode(sabir.Serve(users.New()), sabir.Use(tel.Middleware()), admin.Serve(":0", admin.Metrics(tel.Handler())))
	// end
	if err := node.Start(ctx); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.Background())
	if _, err := users.Get.Call(ctx, node, users.GetUser{ID: "u-1"}); err != nil {
		t.Fatal(err)
	}
	page := metrics(t, tel)
	if want := `sabir_server_calls_total{`; !strings.Contains(page, want) {
		t.Errorf("no %s in\n%s", want, page)
	}
}

func metrics(t *testing.T, tel *telemetry.Telemetry) string {
	t.Helper()
	var page strings.Builder
	tel.Handler().ServeHTTP(writer{&page, http.Header{}}, must(http.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)))
	return page.String()
}

type writer struct {
	io.Writer
	header http.Header
}

func (w writer) Header() http.Header { return w.header }
func (w writer) WriteHeader(int)     {}

func must(r *http.Request, err error) *http.Request {
	if err != nil {
		panic(fmt.Sprint(err))
	}
	return r
}
