package main

import (
	"slices"

	"github.com/sabir-go/sabir/lab/rpc/work"
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
func (connect bus) batched(name string) work.Contender {
	return work.Contender{
		Name: name,
		Serve: func(address string) (func(), error) {
			waiting := make(chan []byte, busQueue)
			publish, stop, err := connect(address, questions, func(request []byte) { waiting <- work.AnswerBatch(nil, request) })
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
		Dial: func(address string, callers int) (*work.Client, error) {
			var deliverReply func([]byte)
			publish, stop, err := connect(address, answers, func(reply []byte) { deliverReply(reply) })
			if err != nil {
				return nil, err
			}
			return &work.Client{Close: stop, Batch: func(messages int, deliver func([]byte)) (func([]byte) error, error) {
				deliverReply = deliver
				return func(request []byte) error { return publish(questions, slices.Clone(request)) }, nil
			}}, nil
		},
	}
}
