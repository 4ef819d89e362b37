package dashboard

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/supervise"
	"github.com/sabir-go/sabir/examples/shop"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/telemetry"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

// world is a cluster of three nodes that are a shop together, with processes, traces and customers. The first has the
// dashboard.
type world struct {
	tb     testing.TB
	nodes  []*sabir.Node
	system *actor.System
	log    *slog.Logger // of the first node, beside its traces
	urls   []string     // of the dashboard
}

var quiet = sabir.Logger(slog.New(slog.NewTextHandler(io.Discard, nil)))

// freeAddress is the address at which the nodes of a test meet.
func freeAddress(tb testing.TB) string {
	tb.Helper()
	address, err := brokers.FreeAddress("tcp")
	must(tb, err)
	return "tcp://" + address
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// openWorld starts a cluster of three nodes; the first one serves the dashboard.
func openWorld(tb testing.TB, config ...Config) *world {
	tb.Helper()
	w := &world{tb: tb}
	address := freeAddress(tb)
	var starting sync.WaitGroup
	for i := range 3 {
		ring := Traces(2000)
		log := slog.New(ring.LogHandler(slog.NewTextHandler(io.Discard, nil)))
		tel, err := telemetry.New(telemetry.Config{Metrics: true, Traces: ring, Buckets: buckets, Values: []string{"**"}})
		must(tb, err)
		parts := []sabir.NodeOption{sabir.NodeID(fmt.Sprintf("shop-%d", i+1)), sabir.Logger(log), sabir.Join(address), sabir.Serve(tel.Stats(), ring.Service()), sabir.Use(tel.Middleware())}
		if i == 0 {
			parts = append(parts, sabir.HTTP(":0", At("/dashboard", config...)), sabir.Serve(ledger(log)))
		}
		part := shop.NewPart(i, 3, parts...)
		if i == 0 {
			w.system, w.log = part.System, log
		}
		w.nodes = append(w.nodes, part.Node)
	}
	for _, n := range w.nodes {
		starting.Go(func() {
			if err := n.Start(tb.Context()); err != nil {
				tb.Error(err)
			}
		})
	}
	starting.Wait()
	tb.Cleanup(w.close)
	if tb.Failed() {
		tb.FailNow()
	}
	w.openProcesses()
	w.urls = []string{"http://" + w.nodes[0].HTTPAddr() + "/dashboard"}
	return w
}

func (w *world) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, n := range w.nodes {
		if n.State() == "running" {
			if err := n.Stop(ctx); err != nil {
				w.tb.Error(err)
			}
		}
	}
}

// customers place so many orders a second until the test ends.
func (w *world) customers(perSecond float64) {
	ctx, cancel := context.WithCancel(context.Background())
	var busy sync.WaitGroup
	busy.Go(func() { shop.Traffic(ctx, w.nodes[1], perSecond, func(error) {}) })
	w.tb.Cleanup(func() { cancel(); busy.Wait() })
}

var buckets = func() (seconds []float64) {
	for unit := 1e-6; unit < 0.05; unit *= 10 {
		for _, step := range []float64{1, 2, 3, 5, 7} {
			seconds = append(seconds, unit*step)
		}
	}
	return append(seconds, 0.1, 0.3, 1, 3, 10, 30)
}()

// entry is a type with a bit of everything that a form has to show.
type entry struct {
	ID      int64             `json:"id" validate:"required,gte=1"`
	Kind    string            `json:"kind" validate:"required,oneof=debit credit"`
	Amount  float64           `json:"amount" validate:"gte=0,lte=1000000"`
	Settled bool              `json:"settled"`
	Lines   []entryLine       `json:"lines" validate:"required,min=1,max=20,dive"`
	Tags    map[string]string `json:"tags,omitempty"`
	Note    *string           `json:"note,omitempty" validate:"omitempty,max=200"`
}

type entryLine struct {
	Account string  `json:"account" validate:"required,min=2,max=32"`
	Share   float64 `json:"share" validate:"gte=0,lte=1"`
}

type booked struct {
	ID    int64  `json:"id"`
	Lines int    `json:"lines"`
	Text  string `json:"text"`
}

func ledger(log *slog.Logger) *sabir.Service {
	s := sabir.NewService("ledger", sabir.Doc("keeps the books"))
	sabir.Handle(s, "book", func(ctx context.Context, in entry) (booked, error) {
		return booked{in.ID, len(in.Lines), "<b>" + in.Kind + "</b>"}, sabir.Emit(ctx, sabir.NodeFromContext(ctx), "ledger.booked", in)
	}, sabir.Doc("books an entry and tells it as an event"))
	sabir.Handle(s, "hidden", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }, sabir.ClusterOnly())
	sabir.Handle(s, "large", func(context.Context, struct{}) (string, error) { return strings.Repeat("x", 2<<20), nil })
	sabir.Handle(s, "lose", func(ctx context.Context, _ struct{}) (struct{}, error) {
		log.WarnContext(ctx, "a warning", "of", "ledger.lose", "ship", "Sabir", "text", strings.Repeat("a long value ", 20))
		return struct{}{}, sabir.Errorf(sabir.CodeDataLoss, "BooksLost", "the books were lost at sea")
	})
	return s
}

type desk struct{ held chan struct{} }

type letter struct{ text string }

type fall struct{}

func (d *desk) init(_ *actor.Process, held chan struct{}) error {
	d.held = held
	return nil
}

func (d *desk) letter(*actor.Process, letter) error {
	if d.held != nil {
		<-d.held
	}
	return nil
}

func (d *desk) fall(p *actor.Process, _ fall) error { return fmt.Errorf("the desk fell over") }

var desks = actor.Define("desk", (*desk).init, actor.OnMessage((*desk).letter), actor.OnMessage((*desk).fall))

// openProcesses starts a tree: some desks, one with messages waiting, and one that was restarted.
func (w *world) openProcesses() {
	held := make(chan struct{})
	w.tb.Cleanup(func() { close(held) })
	_, err := supervise.Spec(supervise.Config{Name: "office", Strategy: "rest-for-one", Intensity: 9},
		supervise.Child{ID: "registry", Start: desks.Spec(nil, actor.SpawnConfig{Name: "registry"})},
		supervise.Child{ID: "mailroom", Start: supervise.Spec(supervise.Config{Name: "mailroom"},
			supervise.Child{ID: "inbox", Start: desks.Spec(held, actor.SpawnConfig{Name: "inbox"})},
			supervise.Child{ID: "outbox", Start: desks.Spec(nil, actor.SpawnConfig{Name: "outbox"})})},
		supervise.Child{ID: "clerks", Start: supervise.Dynamic(desks, supervise.Config{Name: "clerks"}, supervise.Child{})},
	).Start(w.system)
	must(w.tb, err)
	for range 4 {
		_, err := supervise.StartOne[chan struct{}](w.tb.Context(), supervise.At(w.system, actor.Name{Name: "clerks"}), nil)
		must(w.tb, err)
	}
	for range 17 {
		must(w.tb, actor.Send(w.system, actor.Name{Name: "inbox"}, letter{"dear sirs"}))
	}
	out, _ := w.system.Whereis("outbox")
	must(w.tb, actor.Send(w.system, out, fall{}))
	for again, there := out, true; !there || again == out; again, there = w.system.Whereis("outbox") { // until its supervisor has restarted it
		_, err := supervise.At(w.system, actor.Name{Name: "mailroom"}).Describe(w.tb.Context())
		must(w.tb, err)
	}
	_, err = desks.Spec(nil).Start(w.system)
	must(w.tb, err)
}

var _ http.Handler = (*dashboard)(nil)
