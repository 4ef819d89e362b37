package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"
	"github.com/nats-io/nats.go"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/redis/rueidis"
)

// bus is the bare client of a broker, with one connection or what it makes of one. connect subscribes to one subject, calls
// deliver for each message that comes, one after another, and returns what publishes, which any goroutine may call.
type bus func(address, subject string, deliver func([]byte)) (publish func(subject string, data []byte) error, stop func(), err error)

func there(s settings) string { return "lab.there." + s.Cluster }
func back(s settings) string  { return "lab.back." + s.Cluster }

func (connect bus) serve(address string, s settings) (func(), error) {
	incoming := make(chan []byte, waiting)
	publish, stop, err := connect(address, there(s), func(request []byte) { incoming <- request })
	if err != nil {
		return nil, err
	}
	// Some clients wait for the broker's answer to each publication, and send several at once if several goroutines publish.
	for range waiting {
		go func() {
			for request := range incoming {
				publish(back(s), request) // where it fails the client gets no answer, and the lab says so
			}
		}()
	}
	return stop, nil
}

func (connect bus) dial(address string, s settings, callers int) ([]echo, func(), error) {
	replies := make([]chan []byte, callers)
	for i := range replies {
		replies[i] = make(chan []byte, 1)
	}
	publish, stop, err := connect(address, back(s), func(reply []byte) {
		if caller, ok := callerOf(reply); ok && caller < callers {
			replies[caller] <- reply
		}
	})
	if err != nil {
		return nil, nil, err
	}
	echoes := make([]echo, callers)
	for i := range echoes {
		echoes[i] = func(request []byte) ([]byte, error) {
			if err := publish(there(s), request); err != nil {
				return nil, err
			}
			return <-replies[i], nil
		}
	}
	return echoes, stop, nil
}

// natsBus is nats.go alone.
func natsBus(address, subject string, deliver func([]byte)) (func(string, []byte) error, func(), error) {
	conn, err := nats.Connect(address)
	if err != nil {
		return nil, nil, err
	}
	if _, err = conn.Subscribe(subject, func(m *nats.Msg) { deliver(m.Data) }); err == nil {
		err = conn.Flush()
	}
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return conn.Publish, conn.Close, nil
}

// redisBus is rueidis alone: publish and subscribe.
func redisBus(address, subject string, deliver func([]byte)) (func(string, []byte) error, func(), error) {
	options, err := rueidis.ParseURL(address)
	if err != nil {
		return nil, nil, err
	}
	options.DisableCache = true
	client, err := rueidis.NewClient(options)
	if err != nil {
		return nil, nil, err
	}
	subscriber, cancel := client.Dedicate()
	stop := func() { cancel(); client.Close() }
	subscriber.SetPubSubHooks(rueidis.PubSubHooks{OnMessage: func(m rueidis.PubSubMessage) { deliver([]byte(m.Message)) }})
	if err := subscriber.Do(context.Background(), subscriber.B().Subscribe().Channel(subject).Build()).Error(); err != nil {
		stop()
		return nil, nil, err
	}
	return func(channel string, data []byte) error {
		return client.Do(context.Background(), client.B().Publish().Channel(channel).Message(rueidis.BinaryString(data)).Build()).Error()
	}, stop, nil
}

// mqttBus is the client of paho.golang alone, with quality of service 0. Subjects become topics.
func mqttBus(address, subject string, deliver func([]byte)) (func(string, []byte) error, func(), error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, nil, err
	}
	conn, err := net.Dial("tcp", at.Host)
	if err != nil {
		return nil, nil, err
	}
	topic := func(subject string) string { return strings.ReplaceAll(subject, ".", "/") }
	client := paho.NewClient(paho.ClientConfig{
		Conn: packets.NewThreadSafeConn(conn),
		OnPublishReceived: []func(paho.PublishReceived) (bool, error){func(p paho.PublishReceived) (bool, error) {
			deliver(p.Packet.Payload)
			return true, nil
		}},
	})
	ctx := context.Background()
	if _, err := client.Connect(ctx, &paho.Connect{ClientID: subject, CleanStart: true, KeepAlive: 15}); err != nil {
		conn.Close()
		return nil, nil, fmt.Errorf("%s: %w", address, err)
	}
	stop := func() { client.Disconnect(&paho.Disconnect{}) }
	if _, err := client.Subscribe(ctx, &paho.Subscribe{Subscriptions: []paho.SubscribeOptions{{Topic: topic(subject)}}}); err != nil {
		stop()
		return nil, nil, fmt.Errorf("%s: %w", address, err)
	}
	return func(subject string, data []byte) error {
		_, err := client.Publish(ctx, &paho.Publish{Topic: topic(subject), Payload: data})
		return err
	}, stop, nil
}

// amqpBus is amqp091-go alone: a direct exchange and a queue of its own for what is subscribed to, no acknowledgements.
func amqpBus(address, subject string, deliver func([]byte)) (func(string, []byte) error, func(), error) {
	const exchange = "amq.direct"
	conn, err := amqp.Dial(address)
	if err != nil {
		return nil, nil, err
	}
	stop := func() { conn.Close() }
	channel, deliveries, err := consume(conn, exchange, subject)
	if err != nil {
		stop()
		return nil, nil, err
	}
	go func() {
		for delivery := range deliveries {
			deliver(delivery.Body)
		}
	}()
	return func(key string, data []byte) error {
		return channel.PublishWithContext(context.Background(), exchange, key, false, false, amqp.Publishing{Body: data})
	}, stop, nil
}

func consume(conn *amqp.Connection, exchange, key string) (*amqp.Channel, <-chan amqp.Delivery, error) {
	channel, err := conn.Channel()
	if err != nil {
		return nil, nil, err
	}
	queue, err := channel.QueueDeclare("", false, true, true, false, nil)
	if err != nil {
		return nil, nil, err
	}
	if err := channel.QueueBind(queue.Name, key, exchange, false, nil); err != nil {
		return nil, nil, err
	}
	deliveries, err := channel.Consume(queue.Name, "", true, true, false, false, nil)
	return channel, deliveries, err
}
