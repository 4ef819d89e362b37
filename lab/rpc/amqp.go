package main

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"

	amqp "github.com/rabbitmq/amqp091-go"
	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir/lab/bus"
	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

// amqpCalls is the request and reply that RabbitMQ's tutorial has, on amqp091-go: a queue of requests, a queue of replies
// for each client, a message for each.
func amqpCalls() work.Contender {
	const requests = "lab.requests"
	return work.Contender{
		Name: "amqp091-go request-reply",
		Serve: func(address string) (func(), error) {
			channel, incoming, stop, err := bus.Consume(address, requests)
			if err != nil {
				return nil, err
			}
			go func() {
				for request := range incoming.Come {
					if reply, err := work.AnswerProto(request.Body); err == nil {
						channel.PublishWithContext(context.Background(), "", request.ReplyTo, false, false,
							amqp.Publishing{CorrelationId: request.CorrelationId, Body: reply})
					}
				}
			}()
			return stop, nil
		},
		Dial: func(address string, callers int) (*work.Client, error) {
			channel, incoming, stop, err := bus.Consume(address, "")
			if err != nil {
				return nil, err
			}
			var number atomic.Uint64
			var waiting sync.Map // correlation to channel of bytes
			go func() {
				for reply := range incoming.Come {
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
						amqp.Publishing{CorrelationId: id, ReplyTo: incoming.Queue, Body: data})
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
