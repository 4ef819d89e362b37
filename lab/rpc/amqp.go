package main

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"

	amqp "github.com/rabbitmq/amqp091-go"
	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

// amqpBus is amqp091-go alone: a direct exchange and a queue of its own for what is subscribed to, no acknowledgements.
func amqpBus(address, subject string, deliver func([]byte)) (func(string, []byte) error, func(), error) {
	const exchange = "amq.direct"
	channel, deliveries, stop, err := consume(address, "")
	if err != nil {
		return nil, nil, err
	}
	if err := channel.QueueBind(deliveries.queue, subject, exchange, false, nil); err != nil {
		stop()
		return nil, nil, err
	}
	go func() {
		for delivery := range deliveries.come {
			deliver(delivery.Body)
		}
	}()
	return func(key string, data []byte) error {
		return channel.PublishWithContext(context.Background(), exchange, key, false, false, amqp.Publishing{Body: data})
	}, stop, nil
}

type deliveries struct {
	queue string
	come  <-chan amqp.Delivery
}

// consume makes a queue that goes with the connection, and reads it.
func consume(address, queue string) (*amqp.Channel, deliveries, func(), error) {
	conn, err := amqp.Dial(address)
	if err != nil {
		return nil, deliveries{}, nil, err
	}
	stop := func() { conn.Close() }
	channel, err := conn.Channel()
	if err == nil {
		var made amqp.Queue
		if made, err = channel.QueueDeclare(queue, false, true, true, false, nil); err == nil {
			var come <-chan amqp.Delivery
			if come, err = channel.Consume(made.Name, "", true, true, false, false, nil); err == nil {
				return channel, deliveries{made.Name, come}, stop, nil
			}
		}
	}
	stop()
	return nil, deliveries{}, nil, err
}

// amqpCalls is the request and reply that RabbitMQ's tutorial has, on amqp091-go: a queue of requests, a queue of replies
// for each client, a message for each.
func amqpCalls() work.Contender {
	const requests = "lab.requests"
	return work.Contender{
		Name: "amqp091-go request-reply",
		Serve: func(address string) (func(), error) {
			channel, incoming, stop, err := consume(address, requests)
			if err != nil {
				return nil, err
			}
			go func() {
				for request := range incoming.come {
					if reply, err := work.AnswerProto(request.Body); err == nil {
						channel.PublishWithContext(context.Background(), "", request.ReplyTo, false, false,
							amqp.Publishing{CorrelationId: request.CorrelationId, Body: reply})
					}
				}
			}()
			return stop, nil
		},
		Dial: func(address string, callers int) (*work.Client, error) {
			channel, incoming, stop, err := consume(address, "")
			if err != nil {
				return nil, err
			}
			var number atomic.Uint64
			var waiting sync.Map // correlation to channel of bytes
			go func() {
				for reply := range incoming.come {
					if to, ok := waiting.LoadAndDelete(reply.CorrelationId); ok {
						to.(chan []byte) <- reply.Body
					}
				}
				waiting.Range(func(_, to any) bool { close(to.(chan []byte)); return true })
			}()
			return &work.Client{Close: stop, Say: func(caller int) work.RoundTrip {
				mine := make(chan []byte, 1)
				return work.ProtoSay(func(request *message.Proto) (*message.Proto, error) {
					data, err := proto.Marshal(request)
					if err != nil {
						return nil, err
					}
					id := strconv.FormatUint(number.Add(1), 36)
					waiting.Store(id, mine)
					err = channel.PublishWithContext(context.Background(), "", requests, false, false,
						amqp.Publishing{CorrelationId: id, ReplyTo: incoming.queue, Body: data})
					if err != nil {
						return nil, err
					}
					if data, ok := <-mine; ok {
						reply := new(message.Proto)
						return reply, proto.Unmarshal(data, reply)
					}
					return nil, errors.New("the connection to RabbitMQ ended")
				})(caller)
			}}, nil
		},
	}
}
