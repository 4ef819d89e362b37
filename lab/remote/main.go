// Program remote is one side of calls between two nodes with a payload of ten bytes, or both sides in one process: Sabir over
// its transports, and what bare sockets and the bare clients of brokers take. The lab starts it; package seeds/moleculer has the
// tables.
package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"

	"github.com/sabir-go/sabir/lab/bus"
	"github.com/sabir-go/sabir/lab/child"
)

func main() { child.Main(start) }

// settings is the Extra of an order.
type settings struct {
	Cluster  string `json:"cluster"`  // keeps this row's nodes from those of others at the same broker
	Tracking bool   `json:"tracking"` // a service that is stopped waits for the calls in it
}

// echo sends a payload there and back, for one caller at a time.
type echo func(request []byte) (reply []byte, err error)

// contender is a means to carry the payloads: the functions that start its server and its client.
type contender struct {
	serve func(address string, s settings) (stop func(), err error)
	// dial makes an echo for each caller.
	dial func(address string, s settings, callers int) (echoes []echo, stop func(), err error)
}

// withBatches is after the names of limits that send payloads together.
const withBatches = ", batched"

var contenders = func() map[string]contender {
	all := map[string]contender{
		"sabir":             {serveSabir, dialSabir},
		"raw":               {serveRaw, dialRaw},
		"raw" + withBatches: {serveRaw, dialRawBatches},
		"channels":          {serveChannels, dialChannels},
	}
	for kind, connect := range map[brokers.Kind]overBus{
		brokers.NATS: bus.NATS, brokers.Redis: bus.Redis, brokers.Mosquitto: bus.MQTT, brokers.RabbitMQ: bus.AMQP,
	} {
		all[string(kind)] = contender{connect.serve, connect.dial}
		all[string(kind)+withBatches] = contender{connect.serve, connect.dialBatches}
	}
	return all
}()

func start(o child.Order) (child.Job, error) {
	c, known := contenders[o.Row]
	if !known {
		return child.Job{}, fmt.Errorf("there is no %q", o.Row)
	}
	var s settings
	if len(o.Extra) > 0 {
		if err := json.Unmarshal(o.Extra, &s); err != nil {
			return child.Job{}, fmt.Errorf("the order's extra: %w", err)
		}
	}
	stopServer := func() {}
	var err error
	if o.Role != "client" {
		if stopServer, err = c.serve(o.Address, s); err != nil {
			return child.Job{}, err
		}
	}
	if o.Role == "server" {
		return child.Job{Stop: stopServer}, nil
	}
	echoes, stopClient, err := c.dial(o.Address, s, o.Callers)
	if err != nil {
		stopServer()
		return child.Job{}, err
	}
	l := &load{do: make([]func() error, o.Callers), callers: 1}
	for i, e := range echoes {
		l.do[i] = checked(e, i)
	}
	return child.Job{Measure: l.measure, Answer: l.answer, Stop: func() { stopClient(); stopServer() }}, nil
}

// load runs as many callers as the present measurement wants.
type load struct {
	do      []func() error
	callers int
}

// answer takes the word "callers N".
func (l *load) answer(word string) (any, error) {
	text, found := strings.CutPrefix(word, "callers ")
	n, err := strconv.Atoi(text)
	if !found || err != nil || n < 1 || n > len(l.do) {
		return nil, fmt.Errorf("want \"callers N\" with up to %d, got %q", len(l.do), word)
	}
	l.callers = n
	return n, nil
}

func (l *load) measure(d time.Duration) (child.Sample, error) {
	return child.Closed(d, l.callers, func(i int) func() error { return l.do[i] })
}
