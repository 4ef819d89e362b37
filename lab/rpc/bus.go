package main

import (
	"slices"

	"github.com/sabir-go/sabir/brokers"
)

// bus is the client of a broker. connect subscribes to one subject, calls deliver for each message that comes, one after
// another, and returns what publishes; a message's bytes are deliver's until it returns.
type bus func(address, subject string, deliver func([]byte)) (publish func(subject string, data []byte) error, stop func(), err error)

const (
	questions = "lab.questions"
	answers   = "lab.answers"
	busQueue  = 64 // batches that may wait to be answered: more than are under way
)

// batched is the raw batched echo over a broker: a message for each batch.
func (connect bus) batched(name string, kind brokers.Kind, settings string) contender {
	return contender{
		name: name, codec: "none (bytes)", settings: settings, limit: true, modes: []mode{batchMode}, broker: kind,
		serve: func(address string) (func(), error) {
			waiting := make(chan []byte, busQueue)
			publish, stop, err := connect(address, questions, func(request []byte) { waiting <- answerBatch(nil, request) })
			if err != nil {
				return nil, err
			}
			go func() {
				for reply := range waiting {
					if publish(answers, reply) != nil {
						return // which the client notices, for nothing comes
					}
				}
			}()
			return stop, nil
		},
		dial: func(address string, callers int) (*client, error) {
			var deliverReply func([]byte)
			publish, stop, err := connect(address, answers, func(reply []byte) { deliverReply(reply) })
			if err != nil {
				return nil, err
			}
			return &client{close: stop, batch: func(messages int, deliver func([]byte)) (func([]byte) error, error) {
				deliverReply = deliver
				return func(request []byte) error { return publish(questions, slices.Clone(request)) }, nil
			}}, nil
		},
	}
}
