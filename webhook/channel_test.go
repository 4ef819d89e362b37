package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cloudevents/sdk-go/v2/binding"
	"github.com/nats-io/nats.go"
	"github.com/rabbitmq/amqp091-go"
	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/broker/amqp"
	_ "github.com/sabir-go/sabir/broker/nats"
	_ "github.com/sabir-go/sabir/broker/redis"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/description"
	"github.com/sabir-go/sabir/internal/engine"
	"github.com/sabir-go/sabir/sabirtest"
	"github.com/sabir-go/sabir/webhook"
)

// other is another program at a broker, with a client of the broker and nothing of Sabir.
type other struct {
	publish func(*brokerMessage) error
	next    func() (*brokerMessage, error) // the next one that was published, by whomever
}

const eventsName = "shop.events"

// others are the brokers and how another program speaks to each: the names of headers are those of the bindings.
var others = map[string]func(t *testing.T) (address string, connect func() other){
	"NATS": func(t *testing.T) (string, func() other) {
		broker := brokers.ForTest(t, brokers.NATS)
		return broker.URL(), func() other { return onNATS(t, broker.URL()) }
	},
	"RabbitMQ": func(t *testing.T) (string, func() other) {
		broker := brokers.ForTest(t, brokers.RabbitMQ)
		return broker.URL(), func() other { return onRabbitMQ(t, broker.URL()) }
	},
	"Redis": func(t *testing.T) (string, func() other) {
		broker := brokers.ForTest(t, brokers.Redis)
		return broker.URL(), func() other { return onRedis(t, broker.Addr()) }
	},
	"mem": func(t *testing.T) (string, func() other) {
		return "mem://" + t.Name(), func() other { return onEngine(t, "mem://"+t.Name()) }
	},
}

func onNATS(t *testing.T, address string) other {
	conn, err := nats.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	const subject = "sabir.channel." + eventsName
	all, err := conn.SubscribeSync(subject)
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return other{
		publish: func(m *brokerMessage) error {
			header := nats.Header{}
			if m.media != "" && m.attributes == nil {
				header["Content-Type"] = []string{m.media}
			} else if m.media != "" {
				header["ce-datacontenttype"] = []string{m.media}
			}
			for name, value := range m.attributes {
				header["ce-"+name] = []string{url.PathEscape(value)}
			}
			_, err := conn.RequestMsg(&nats.Msg{Subject: subject, Header: header, Data: m.data}, waitLimit) // JetStream answers when it has it
			return err
		},
		next: func() (*brokerMessage, error) {
			raw, err := all.NextMsg(waitLimit)
			if err != nil {
				return nil, err
			}
			m := &brokerMessage{media: raw.Header.Get("Content-Type"), attributes: map[string]string{}, data: raw.Data}
			for header, values := range raw.Header {
				if name, is := strings.CutPrefix(header, "ce-"); is {
					if m.attributes[name], err = url.PathUnescape(values[0]); err != nil {
						return nil, err
					}
				}
			}
			if media, has := m.attributes["datacontenttype"]; has {
				delete(m.attributes, "datacontenttype")
				m.media = media
			}
			return m, nil
		},
	}
}

func onRabbitMQ(t *testing.T, address string) other {
	conn, err := amqp091.Dial(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	const exchange = "sabir:" + eventsName
	queue, err := ch.QueueDeclare("", false, true, true, false, nil)
	if err == nil {
		err = ch.QueueBind(queue.Name, "", exchange, false, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	all, err := ch.Consume(queue.Name, "", true, true, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	separator := "_" // and the other one the next time
	return other{
		publish: func(m *brokerMessage) error {
			p := amqp091.Publishing{ContentType: m.media, Headers: amqp091.Table{}, Body: m.data}
			for name, value := range m.attributes {
				p.Headers["cloudEvents"+separator+name] = value
			}
			separator = string("_:"[strings.Index(":_", separator)])
			return ch.PublishWithContext(t.Context(), exchange, "", false, false, p)
		},
		next: func() (*brokerMessage, error) {
			raw, ok := <-all
			if !ok {
				return nil, errors.New("the connection broke")
			}
			m := &brokerMessage{media: raw.ContentType, attributes: map[string]string{}, data: raw.Body}
			for header, value := range raw.Headers {
				if name, is := strings.CutPrefix(header, "cloudEvents:"); is {
					m.attributes[name] = value.(string)
				}
			}
			return m, nil
		},
	}
}

func onRedis(t *testing.T, address string) other {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{address}, DisableCache: true, ForceSingleClient: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	const key = "sabir:{" + eventsName + "}:log"
	last := "0-0"
	return other{
		publish: func(m *brokerMessage) error {
			fields := []string{"*", "data", string(m.data)}
			if m.media != "" && m.attributes == nil {
				fields = append(fields, "Content-Type", m.media)
			} else if m.media != "" {
				fields = append(fields, "ce-datacontenttype", m.media)
			}
			for name, value := range m.attributes {
				fields = append(fields, "ce-"+name, value)
			}
			return client.Do(t.Context(), client.B().Arbitrary("XADD").Keys(key).Args(fields...).Build()).Error()
		},
		next: func() (*brokerMessage, error) {
			entries, err := client.Do(t.Context(), client.B().Xread().Count(1).Block(waitLimit.Milliseconds()).Streams().Key(key).Id(last).Build()).AsXRead()
			if err != nil {
				return nil, err
			}
			entry := entries[key][0]
			last = entry.ID
			m := &brokerMessage{media: entry.FieldValues["Content-Type"], attributes: map[string]string{}, data: []byte(entry.FieldValues["data"])}
			for field, value := range entry.FieldValues {
				if name, is := strings.CutPrefix(field, "ce-"); is {
					m.attributes[name] = value
				}
			}
			if media, has := m.attributes["datacontenttype"]; has {
				delete(m.attributes, "datacontenttype")
				m.media = media
			}
			return m, nil
		},
	}
}

// onEngine is for the engine within the process, which other programs cannot reach: it shows that attributes and data pass apart from one another.
func onEngine(t *testing.T, address string) other {
	store, err := engine.Open(t.Context(), address, engine.Config{})
	if err == nil {
		err = store.Declare(t.Context(), engine.Spec{Name: eventsName})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	group, err := store.Join(t.Context(), engine.GroupSpec{Channel: eventsName, Name: "other", AckWait: waitLimit})
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	return other{
		publish: func(m *brokerMessage) error {
			out := &engine.Outgoing{Message: engine.Message{Data: m.data, Attributes: maps.Clone(m.attributes)}}
			if out.Attributes == nil {
				out.Attributes = map[string]string{}
			}
			if m.media != "" {
				out.Attributes["datacontenttype"] = m.media
			}
			number++
			out.ID = fmt.Sprint(number)
			store.Publish(t.Context(), eventsName, []*engine.Outgoing{out})
			return out.Err
		},
		next: func() (*brokerMessage, error) {
			list, err := group.Receive(t.Context(), 1)
			if err != nil {
				return nil, err
			}
			m := &brokerMessage{media: list[0].Attributes["datacontenttype"], attributes: list[0].Attributes, data: list[0].Data}
			delete(m.attributes, "datacontenttype")
			return m, group.Done(t.Context(), list...)
		},
	}
}

// onChannel starts a node that consumes a channel of events, and another program at its broker.
func onChannel(t *testing.T, broker string, config ...channel.Config) (events *channel.Channel[webhook.Event], node *sabir.Node, them other, got chan webhook.Event) {
	address, connect := others[broker](t)
	events, got = channel.New[webhook.Event](eventsName, config...), make(chan webhook.Event, 100)
	s := sabir.NewService("shop")
	events.Consume(s, func(_ context.Context, e webhook.Event) error { got <- e; return nil })
	node = sabirtest.Start(t, sabir.NodeID("n1"), channel.Broker(address), sabir.Serve(s))
	return events, node, connect(), got
}

// takeDead waits for a dead letter of the channel, and takes it out.
func takeDead(t *testing.T, node *sabir.Node) channel.DeadLetter {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	for {
		list, err := channel.DeadLetters(ctx, node, eventsName+".dead", 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			continue
		}
		if _, err := channel.DeleteDeadLetters(ctx, node, eventsName+".dead", list[0].Key); err != nil {
			t.Fatal(err)
		}
		return list[0]
	}
}

// receive waits for what must come.
func receive[T any](t *testing.T, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(waitLimit):
		t.Fatal("nothing came")
	}
	return value
}

func sameEvent(a, b webhook.Event) bool {
	return a.ID == b.ID && a.Source == b.Source && a.Type == b.Type && a.Subject == b.Subject && a.Schema == b.Schema && a.Time.Equal(b.Time) &&
		a.DataType == b.DataType && string(a.Data) == string(b.Data) && maps.Equal(a.Extensions, b.Extensions)
}

// An event that is published here is what another program reads, and another program's event is what the consumer gets, in both modes.
func TestEventsOnChannelsAreThoseOfOtherPrograms(t *testing.T) {
	sent := []webhook.Event{
		{ID: "1", Source: "/shop", Type: "orders.placed", Subject: `Grüße "100%"`, Time: moment, Schema: "https://example.com/s", DataType: "application/json", Data: []byte(`{"id":"o-1","text":"Grüße"}`), Extensions: map[string]string{"myext": "kept ✓"}},
		{ID: "2", Source: "/shop", Type: "orders.photo", DataType: "image/png", Data: []byte{0, 1, 254, 255}},
		{ID: "3", Source: "/shop", Type: "orders.note", DataType: "text/plain; charset=utf-8", Data: []byte("Grüße\n")},
		{ID: "4", Source: "/shop", Type: "orders.empty"},
	}
	for broker := range others {
		for mode, config := range map[string]channel.Config{"structured": {}, "binary": {Codec: "binary"}} {
			t.Run(broker+"/"+mode, func(t *testing.T) {
				events, node, them, got := onChannel(t, broker, config)
				force := binding.WithForceBinary
				if mode == "structured" {
					force = binding.WithForceStructured
				}
				for _, e := range sent {
					if _, err := events.Publish(t.Context(), node, e); err != nil {
						t.Fatal(err)
					}
					if back := receive(t, got); !sameEvent(back, e) {
						t.Errorf("%+v comes back as %+v", e, back)
					}
					m, err := them.next()
					if err != nil {
						t.Fatal(err)
					}
					if is := m.ReadEncoding(); is.String() != mode {
						t.Fatalf("the message has the mode %v", is)
					}
					read, err := binding.ToEvent(t.Context(), m)
					if err != nil || read.Validate() != nil {
						t.Fatal(err, read)
					}
					theirs := webhook.Event{ID: read.ID(), Source: read.Source(), Type: read.Type(), Subject: read.Subject(), Time: read.Time(), Schema: read.DataSchema(), DataType: read.DataContentType(), Data: read.Data(), Extensions: e.Extensions}
					if !sameEvent(theirs, e) || e.Extensions != nil && read.Extensions()["myext"] != e.Extensions["myext"] {
						t.Errorf("the SDK reads %v, want %+v", read, e)
					}

					read.SetID("theirs-" + e.ID)
					again, err := writtenBySDK(force(t.Context()), read)
					if err == nil {
						err = them.publish(again)
					}
					if err != nil {
						t.Fatal(err)
					}
					theirs.ID = "theirs-" + e.ID
					if taken := receive(t, got); !sameEvent(taken, theirs) {
						t.Errorf("the SDK's %v is taken as %+v", read, taken)
					}
					if _, err := them.next(); err != nil { // its own
						t.Fatal(err)
					}
				}
			})
		}
	}
}

func TestTheDescriptionOfAChannelOfEventsHasTheirContentType(t *testing.T) {
	for want, c := range map[string]*channel.Channel[webhook.Event]{
		"application/cloudevents+json": channel.New[webhook.Event](eventsName),
		"":                             channel.New[webhook.Event](eventsName, channel.Config{Codec: "binary"}), // that of the data
	} {
		s := sabir.NewService("shop", sabir.Sends(c))
		c.Consume(s, func(context.Context, webhook.Event) error { return nil })
		node := sabirtest.Start(t, channel.Broker("mem://"), sabir.Serve(s))
		d, err := sabir.Call[description.Document](t.Context(), node, "$node.api", description.Request{Service: "shop"})
		if err != nil || len(d.Messages) != 2 {
			t.Fatal(err, d)
		}
		for _, m := range d.Messages {
			if m.ContentType != want {
				t.Errorf("%+v, want the content type %q", m, want)
			}
		}
	}
}

// What is no event is a dead letter after its first attempt, with a reason that says what is wrong.
func TestWhatIsNoEventOnAChannelIsADeadLetterAtOnce(t *testing.T) {
	attributes := func(change ...string) map[string]string {
		all := map[string]string{"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}
		for i := 0; i < len(change); i += 2 {
			if all[change[i]] = change[i+1]; change[i+1] == "" {
				delete(all, change[i])
			}
		}
		return all
	}
	const structured = "application/cloudevents+json"
	wrong := []struct {
		reason string
		brokerMessage
	}{
		{"lacks an id", brokerMessage{attributes: attributes("id", "")}},
		{"lacks a source", brokerMessage{attributes: attributes("source", "")}},
		{"lacks a type", brokerMessage{attributes: attributes("type", "")}},
		{"lacks a specversion", brokerMessage{attributes: attributes("specversion", "")}},
		{`the specversion "0.3"`, brokerMessage{attributes: attributes("specversion", "0.3")}},
		{"RFC 3339", brokerMessage{attributes: attributes("time", "2026-01-02T03:04:05")}},
		{"no media type", brokerMessage{media: "?", attributes: attributes()}},
		{"is not JSON", brokerMessage{media: "application/json", attributes: attributes(), data: []byte(`{`)}},
		{"lower-case letters", brokerMessage{attributes: attributes("my_ext", "1")}},
		{"no attributes of an event", brokerMessage{data: []byte(`["no event"]`)}},
		{"lacks an id", brokerMessage{media: structured, data: []byte(`{"specversion":"1.0","source":"/s","type":"t"}`)}},
		{"lacks a source", brokerMessage{media: structured, data: []byte(`{"specversion":"1.0","id":"3","type":"t"}`)}},
		{`the specversion "2.0"`, brokerMessage{media: structured, data: []byte(`{"specversion":"2.0","id":"1","source":"/s","type":"t"}`)}},
		{"lacks a specversion", brokerMessage{media: structured, data: []byte(`{"id":"1","source":"/s","type":"t"}`)}},
		{"application/cloudevents+avro", brokerMessage{media: "application/cloudevents+avro", data: []byte(`{}`)}},
		{"application/cloudevents-batch+json", brokerMessage{media: "application/cloudevents-batch+json", data: []byte(`[]`)}},
	}
	for broker := range others {
		t.Run(broker, func(t *testing.T) {
			_, node, them, got := onChannel(t, broker)
			for _, w := range wrong {
				if w.data == nil {
					w.data = []byte("{}")
				}
				if err := them.publish(&w.brokerMessage); err != nil {
					t.Fatal(err)
				}
				letter := takeDead(t, node)
				if d := letter.Dead; d.Attempts != 1 || d.Code != "InvalidArgument" || !strings.Contains(d.Reason, w.reason) {
					t.Errorf("%+v became the dead letter %+v, want one that says %q", w.brokerMessage, d, w.reason)
				}
				for name, value := range w.attributes {
					if letter.Attributes[name] != value {
						t.Errorf("the dead letter of %+v has the attributes %v", w.brokerMessage, letter.Attributes)
					}
				}
			}
			if len(got) > 0 {
				t.Errorf("the consumer got %+v", <-got)
			}
		})
	}
}
