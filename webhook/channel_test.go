package webhook_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	_ "github.com/sabir-go/sabir/channel/jetstream"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/sabirtest"
	"github.com/sabir-go/sabir/webhook"
)

// The structured mode of the NATS binding: the message is the event as JSON, and needs no header. Messages of other programs have no ID, and
// each that is no event is a dead letter of its own.
func TestAChannelOfEventsKeepsThemInTheStructuredForm(t *testing.T) {
	broker := brokers.ForTest(t, brokers.NATS)
	events := channel.New[webhook.Event]("shop.events")
	got := make(chan webhook.Event, 10)
	s := sabir.NewService("shop")
	events.Consume(s, func(_ context.Context, e webhook.Event) error { got <- e; return nil })
	dead := make(chan channel.DeadInfo, 10)
	letters := channel.New[json.RawMessage]("shop.events.dead")
	letters.Consume(s, func(ctx context.Context, _ json.RawMessage) error {
		d, _ := channel.DeliveryFromContext(ctx)
		dead <- *d.Dead
		return nil
	})
	node := sabirtest.Start(t, sabir.NodeID("n1"), channel.Broker(broker.URL()), sabir.Serve(s))
	conn, err := nats.Connect(broker.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const subject = "sabir.channel.shop.events"
	raw, err := conn.SubscribeSync(subject)
	if err != nil {
		t.Fatal(err)
	}
	next := func() []byte {
		t.Helper()
		m, err := raw.NextMsg(waitLimit)
		if err != nil {
			t.Fatal(err)
		}
		return m.Data
	}

	sent := webhook.Event{ID: "1", Source: "/shop", Type: "orders.photo", Time: moment, DataType: "image/png", Data: []byte{0, 1, 254, 255}, Extensions: map[string]string{"myext": "kept ✓"}}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := events.Publish(t.Context(), node, sent); err != nil {
		t.Fatal(err)
	}
	var read event.Event
	if err := json.Unmarshal(next(), &read); err != nil || read.ID() != "1" || read.Type() != "orders.photo" || string(read.Data()) != string(sent.Data) || read.Extensions()["myext"] != "kept ✓" {
		t.Errorf("the SDK reads %v, %v", read, err)
	}
	if e := <-got; e.ID != "1" || string(e.Data) != string(sent.Data) {
		t.Errorf("%+v", e)
	}

	made := event.New()
	made.SetID("2")
	made.SetSource("/go")
	made.SetType("orders.placed")
	made.SetTime(moment)
	if err := made.SetData("application/json", placed{"o-1", "Grüße"}); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range [][]byte{[]byte(`{"specversion":"1.0","id":"3","type":"t"}`), []byte(`["no event"]`), text} {
		if _, err := conn.Request(subject, message, waitLimit); err != nil { // JetStream answers when it has it
			t.Fatal(err)
		}
	}
	if e := <-got; e.ID != "2" || e.Source != "/go" || !e.Time.Equal(moment) || string(e.Data) != `{"id":"o-1","text":"Grüße"}` {
		t.Errorf("%+v", e)
	}
	for range 2 {
		if d := <-dead; d.Attempts != 1 || d.Code != "InvalidArgument" {
			t.Errorf("what is no event became the dead letter %+v", d)
		}
	}
}
