package main

import "fmt"

//go:generate protoc --go_out=. --go_opt=paths=source_relative ping.proto

// Message is the message that processes send each other, the same for all contenders. Where a peer's nodes want protobuf, it
// travels as Ping, with the same fields.
type Message struct {
	Value    int64
	Sequence uint64
}

// messageAt is the message with a number. Its value is not the number, so that neither can stand for the other.
func messageAt(sequence uint64) Message {
	return Message{Value: int64(sequence)*3 + 1, Sequence: sequence}
}

// answer is the reply to a request.
func (m Message) answer() Message { return Message{Value: m.Value + 1, Sequence: m.Sequence} }

func (m Message) proto() *Ping { return &Ping{Value: m.Value, Sequence: m.Sequence} }

func (p *Ping) message() Message { return Message{Value: p.Value, Sequence: p.Sequence} }

// messageOf is the message of a reply, in the forms it may have.
func messageOf(reply any, err error) (Message, error) {
	switch m := reply.(type) {
	case Message:
		return m, err
	case *Ping:
		return m.message(), err
	}
	if err != nil {
		return Message{}, err
	}
	return Message{}, fmt.Errorf("a reply of type %T", reply)
}

// beginning is the message at which a process begins its work.
type beginning struct{}
