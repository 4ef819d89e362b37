package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/requestid"
)

// Delivery says which events [Deliver] sends, and where.
type Delivery struct {
	// Channel is the name of the durable channel in which deliveries wait, such as "shop.hooks".
	Channel string
	// Events are patterns of the events that are sent, such as "orders.*".
	Events []string
	// Endpoints lists the endpoints that there are now. It is asked for each event and each attempt. An endpoint that has gone gets nothing more,
	// and what waits for it is dropped. Secrets are read from here only: none is in the channel.
	Endpoints func(context.Context) ([]Endpoint, error)
	// Prefix is put before an event's name to make its type, such as "com.example.".
	Prefix string
	// Source is the source of the events, a URI reference. Default: "/" and the name of the service.
	Source string
	// Client sends the events. nil is the zero [Client].
	Client *Client
	// Consumer says how often a delivery is tried, and with which pauses: see [channel.Consumer]. Without Attempts there are 8, over more than an
	// hour; after the last the delivery is a dead letter, which "sabir channels" lists and replays.
	Consumer channel.Consumer
}

// waiting is a delivery in its channel.
type waiting struct {
	Endpoint string `json:"endpoint"`
	Host     string `json:"host"` // that it had, for operators who read the dead letter
	Event    Event  `json:"event"`
}

// Deliver has a service send events to endpoints. Each event goes to each endpoint that wants it at least once, with the same id in each attempt. The
// events of the cluster reach the service as they reach [sabir.On]: from the moment that the channel keeps a delivery, it is not lost. To have no event lost before
// that, publish it on a channel yourself, and call [Client.Send] in its consumer.
//
// Deliver panics when a node serves s already. Its mistakes are errors of the service's start.
func Deliver(s *sabir.Service, d Delivery) {
	if d.Client == nil {
		d.Client = &Client{}
	}
	if d.Source == "" {
		d.Source = "/" + s.Name()
	}
	if d.Consumer.Attempts == 0 {
		d.Consumer.Attempts = 8
		if d.Consumer.FirstPause == 0 && d.Consumer.MaxPause == 0 {
			d.Consumer.FirstPause, d.Consumer.MaxPause = 30*time.Second, 30*time.Minute
		}
	}
	deliveries := channel.New[waiting](d.Channel)
	deliveries.ConsumeWith(s, d.Consumer, (&attempts{Delivery: &d, silent: make(map[string]bool)}).deliver)
	for _, pattern := range d.Events {
		sabir.On(s, pattern, func(ctx context.Context, payload json.RawMessage) error { return d.keep(ctx, deliveries, payload) })
	}
}

// keep puts an event into the channel, once for each endpoint that wants it.
func (d *Delivery) keep(ctx context.Context, deliveries *channel.Channel[waiting], payload json.RawMessage) error {
	info := sabir.InfoFromContext(ctx)
	endpoints, err := d.Endpoints(ctx)
	if err != nil {
		return err
	}
	e := Event{ID: requestid.New(), Source: d.Source, Type: d.Prefix + info.Event, Time: time.Now().UTC(), Data: payload}
	if trace := sabir.InfoFromContext(ctx).Metadata["traceparent"]; trace != "" {
		e.Extensions = map[string]string{"traceparent": trace}
	}
	var errs []error
	known := make(map[string]bool)
	for _, to := range endpoints {
		if known[to.ID] { // what waits for it would be sent to the other one
			errs = append(errs, fmt.Errorf("webhook: two endpoints of %s have the ID %q: the one at %s gets nothing; give each an ID of its own", d.Channel, to.ID, to.withoutQuery()))
			continue
		}
		known[to.ID] = true
		wants := func(pattern string) bool { return names.Match(pattern, info.Event) }
		if to.Events != nil && !slices.ContainsFunc(to.Events, wants) {
			continue
		}
		_, err := deliveries.Publish(ctx, sabir.NodeFromContext(ctx), waiting{to.ID, to.host(), e}) // the others get theirs all the same
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
