package bus

import (
	"context"

	amqp "github.com/rabbitmq/amqp091-go"
)

// AMQP is amqp091-go: a direct exchange and a queue of its own for what is subscribed to, no acknowledgements.
func AMQP(address, subject string, deliver func([]byte)) (func(string, []byte) error, func(), error) {
	const exchange = "amq.direct"
	channel, from, stop, err := Consume(address, "")
	if err != nil {
		return nil, nil, err
	}
	if err := channel.QueueBind(from.Queue, subject, exchange, false, nil); err != nil {
		stop()
		return nil, nil, err
	}
	go func() {
		for delivery := range from.Come {
			deliver(delivery.Body)
		}
	}()
	return func(key string, data []byte) error {
		return channel.PublishWithContext(context.Background(), exchange, key, false, false, amqp.Publishing{Body: data})
	}, stop, nil
}

// Deliveries is the stream of messages from a queue. Come is closed with the connection.
type Deliveries struct {
	Queue string
	Come  <-chan amqp.Delivery
}

// Consume makes a queue of that name that goes with its connection, and reads it; for "" the broker names it.
func Consume(address, queue string) (channel *amqp.Channel, from Deliveries, stop func(), err error) {
	conn, err := amqp.Dial(address)
	if err != nil {
		return nil, from, nil, err
	}
	stop = func() { conn.Close() }
	if channel, err = conn.Channel(); err == nil {
		var made amqp.Queue
		if made, err = channel.QueueDeclare(queue, false, true, true, false, nil); err == nil {
			from.Queue = made.Name
			from.Come, err = channel.Consume(made.Name, "", true, true, false, false, nil)
		}
	}
	if err != nil {
		stop()
		return nil, from, nil, err
	}
	return channel, from, stop, nil
}
