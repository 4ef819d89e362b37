package sabir_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/description"
)

type orderMade struct {
	ID    string `json:"id"`
	Price int    `json:"price,omitempty"`
}

func TestAServiceDescribesWhatItSendsAndReceives(t *testing.T) {
	made := sabir.NewEvent[orderMade]("orders.made")
	s := sabir.NewService("orders", sabir.Sends(made))
	sabir.On(s, "users.*", func(context.Context, person) error { return nil }, sabir.Delivery{Group: "greeters"})
	n := start(t, sabir.Serve(s))
	got, err := sabir.Call[description.Document](t.Context(), n, "$node.api", description.Request{Service: "orders"})
	if err != nil || len(got.Messages) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	sent, received := got.Messages[0], got.Messages[1]
	if !sent.Sent || sent.Kind != "event" || sent.Name != "orders.made" || sent.Service != "orders" || sent.Type.Resolve(got.Defs).Properties.Get("price") == nil {
		t.Errorf("sent: %+v", sent)
	}
	if received.Sent || received.Name != "users.*" || received.Group != "greeters" || received.Type == nil {
		t.Errorf("received: %+v", received)
	}
	_, err = sabir.Call[description.Document](t.Context(), n, "$node.api", description.Request{Service: "mail"})
	reports(t, err, sabir.ErrServiceUnavailable, "no service mail")
}

func TestAServiceThatSendsSomethingWithoutANameDoesNotStart(t *testing.T) {
	for _, one := range []sabir.MessageContract{nil, (*sabir.EventContract[int])(nil), &sabir.EventContract[int]{}} {
		err := sabir.NewNode(sabir.Serve(sabir.NewService("orders", sabir.Sends(one)))).Start(t.Context())
		reports(t, err, sabir.NewError(sabir.CodeInvalidArgument, "BadService", ""), "service orders sends something without a name", "messages_test.go")
	}
}

func TestAnEventThatNoHandlerCanReadIsAWarningOnce(t *testing.T) {
	lines := make(chan string, 64)
	address := sabir.Join("mem://" + t.Name())
	takes := func(name string, options ...sabir.EventOption) *sabir.Service {
		s := sabir.NewService(name)
		sabir.On(s, "orders.made", func(context.Context, int) error { return nil }, options...)
		sabir.On(s, "orders.paid", func(context.Context, int) error { return nil }, options...)
		return s
	}
	anything := sabir.NewService("audit")
	sabir.On(anything, "orders.paid", func(context.Context, orderMade) error { return nil })
	emitter := start(t, sabir.NodeID("emitter"), logTo(lines), sabir.Serve(takes("mail")), address)
	start(t, sabir.NodeID("other"), sabir.Serve(takes("books"), anything), address)
	if err := emitter.WaitFor(t.Context(), "books", "audit"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, name := range []string{"orders.made", "orders.paid"} { // of which audit reads the second
			if err := sabir.Emit(t.Context(), emitter, name, orderMade{ID: "o-1"}); !errors.Is(err, sabir.ErrBadInput) {
				t.Fatal(err)
			}
		}
		if err := sabir.Emit(t.Context(), emitter, "orders.lost", orderMade{}); err != nil { // without a handler
			t.Fatal(err)
		}
	}
	warnings := 0
	for len(lines) > 0 {
		if line := <-lines; strings.Contains(line, "no handler can read the event") {
			warnings++
			if !strings.Contains(line, "event=orders.made") || !strings.Contains(line, "type=sabir_test.orderMade") {
				t.Error(line)
			}
		}
	}
	if warnings != 1 {
		t.Errorf("%d warnings", warnings)
	}
}
