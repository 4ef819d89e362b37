package work

import (
	"github.com/lesismal/arpc/codec"
	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir/lab/message"
)

// What the contenders that carry protobuf messages have in common: the request, the reply and its check. Each gives the
// call itself, which returns a reply of its own.

// ProtoSay makes calls with the message.
func ProtoSay(call func(request *message.Proto) (*message.Proto, error)) func(caller int) RoundTrip {
	return func(caller int) RoundTrip {
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

// ProtoEcho makes calls with a blob.
func ProtoEcho(call func(request *message.ProtoBlob) (*message.ProtoBlob, error)) func(caller, size int) RoundTrip {
	return func(caller, size int) RoundTrip {
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

// ProtoPush sends blobs over a stream.
func ProtoPush(size int, send func(*message.ProtoBlob) error, finish func() (*message.ProtoReceived, error)) *Pushing {
	blob := &message.ProtoBlob{Data: message.NewBytes(size)}
	return &Pushing{
		Send: func() error { return send(blob) },
		Finish: func() (int64, int64, error) {
			counted, err := finish()
			if err != nil {
				return 0, 0, err
			}
			return counted.Messages, counted.Bytes, nil
		},
	}
}

// AnswerProto decodes a request, answers it as each server does, and encodes the reply.
func AnswerProto(request []byte) ([]byte, error) { return AnswerProtoIn(GoogleProto{}, request) }

// AnswerProtoIn is AnswerProto with another codec for messages of protobuf.
func AnswerProtoIn(c codec.Codec, request []byte) ([]byte, error) {
	var in message.Proto
	if err := c.Unmarshal(request, &in); err != nil {
		return nil, err
	}
	in.Answer()
	return c.Marshal(&in)
}

// GoogleProto is Google's code for protobuf as a codec of arpc.
type GoogleProto struct{}

func (GoogleProto) Marshal(v any) ([]byte, error) { return proto.Marshal(v.(proto.Message)) }
func (GoogleProto) Unmarshal(data []byte, v any) error {
	return proto.Unmarshal(data, v.(proto.Message))
}
