package main

import (
	"slices"

	"github.com/sabir-go/sabir/lab/bus"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

const (
	questions = "lab.questions"
	answers   = "lab.answers"
	busQueue  = 64 // batches that may wait to be answered: more than are under way
)

// batched is the raw batched echo over a broker, by its bare client: a message for each batch.
func batched(name string, connect bus.Connect) work.Contender {
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
