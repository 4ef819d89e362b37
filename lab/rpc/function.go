package main

import (
	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

// functionContenders is the limit without anything in between: the handler called as a function.
func functionContenders() []work.Contender {
	return []work.Contender{{
		Name:  "function call",
		Serve: func(string) (func(), error) { return func() {}, nil },
		Dial: func(string, int) (*work.Client, error) {
			return &work.Client{Close: func() {}, Say: func(caller int) work.RoundTrip {
				request, kept := message.New(), new(message.Keeper)
				return func(sequence int, full bool) error {
					request.Mark(caller, sequence)
					reply := answered(*request)
					if err := request.CheckReply(&reply, full); err != nil || !full {
						return err
					}
					return kept.Message(request, &reply)
				}
			}}, nil
		},
	}}
}

//go:noinline
func answered(in message.Message) message.Message {
	in.Answer()
	return in
}
