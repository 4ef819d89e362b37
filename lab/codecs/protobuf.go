package main

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir/lab/codecs/shapepb"
)

func protobufCodecs() []codec {
	return []codec{{name: "Protobuf", entries: []entry{
		protobufEntry(shapepb.NewText()), protobufEntry(shapepb.NewPID()), protobufEntry(shapepb.NewProcessID()), protobufEntry(shapepb.NewSimple()),
		protobufEntry(shapepb.NewComplex()), protobufEntry(shapepb.NewNested()), protobufEntry(shapepb.NewItems()), protobufEntry(shapepb.NewGroups()),
	}}}
}

func protobufEntry[T any, P interface {
	*T
	proto.Message
}](v P) entry {
	return entry{
		encode: func(dst []byte) ([]byte, error) { return proto.MarshalOptions{}.MarshalAppend(dst, v) },
		decode: func(data []byte) error { return proto.Unmarshal(data, P(new(T))) },
		verify: func(data []byte) error {
			back := P(new(T))
			if err := proto.Unmarshal(data, back); err != nil {
				return err
			}
			return sameMessage(v, back)
		},
	}
}

func sameMessage(want, got proto.Message) error {
	if !proto.Equal(want, got) {
		return fmt.Errorf("decoded %v, want %v", got, want)
	}
	return nil
}
