package main

import (
	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir/lab/message"
)

// What the contenders that carry protobuf messages have in common: the request, the reply and its check. Each gives the
// call itself, which returns a reply of its own.

func protoSay(call func(request *message.Proto) (*message.Proto, error)) func(caller int) roundTrip {
	return func(caller int) roundTrip {
		request, kept := message.NewProto(), new(message.Keeper)
		return func(sequence int, full bool) error {
			request.Mark(caller, sequence)
			reply, err := call(request)
			if err != nil {
				return err
			}
			if err := request.CheckReply(reply, full); err != nil || !full {
				return err
			}
			return kept.Proto(request, reply)
		}
	}
}

func protoEcho(call func(request *message.ProtoBlob) (*message.ProtoBlob, error)) func(caller, size int) roundTrip {
	return func(caller, size int) roundTrip {
		request := &message.ProtoBlob{Data: message.NewBytes(size)}
		return func(sequence int, full bool) error {
			message.MarkBytes(request.Data, caller, sequence)
			reply, err := call(request)
			if err != nil {
				return err
			}
			return message.CheckBytes(request.Data, reply.Data, full)
		}
	}
}

func protoPush(size int, send func(*message.ProtoBlob) error, finish func() (*message.ProtoReceived, error)) *pushing {
	blob := &message.ProtoBlob{Data: message.NewBytes(size)}
	return &pushing{
		send: func() error { return send(blob) },
		finish: func() (int64, int64, error) {
			counted, err := finish()
			if err != nil {
				return 0, 0, err
			}
			return counted.Messages, counted.Bytes, nil
		},
	}
}

// answerProto is what a server does with the bytes of a request.
func answerProto(request []byte) ([]byte, error) {
	var in message.Proto
	if err := proto.Unmarshal(request, &in); err != nil {
		return nil, err
	}
	in.Answer()
	return proto.Marshal(&in)
}
