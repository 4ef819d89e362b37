package main

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir/lab/codecs/shapepb"
)

func vtprotobufCodecs() []codec {
	return []codec{{name: "vtprotobuf", entries: []entry{
		vtprotobufEntry(shapepb.NewText()), vtprotobufEntry(shapepb.NewPID()), vtprotobufEntry(shapepb.NewProcessID()), vtprotobufEntry(shapepb.NewSimple()),
		vtprotobufEntry(shapepb.NewComplex()), vtprotobufEntry(shapepb.NewNested()), vtprotobufEntry(shapepb.NewItems()), vtprotobufEntry(shapepb.NewGroups()),
	}}}
}

func vtprotobufEntry[T any, P interface {
	*T
	proto.Message
	SizeVT() int
	MarshalToSizedBufferVT([]byte) (int, error)
	UnmarshalVT([]byte) error
}](v P) entry {
	return entry{
		encode: func(dst []byte) ([]byte, error) {
			size := v.SizeVT()
			dst = slices.Grow(dst, size)
			dst = dst[:len(dst)+size]
			_, err := v.MarshalToSizedBufferVT(dst[len(dst)-size:])
			return dst, err
		},
		decode: func(data []byte) error { return P(new(T)).UnmarshalVT(data) },
		verify: func(data []byte) error {
			back := P(new(T))
			if err := back.UnmarshalVT(data); err != nil {
				return err
			}
			return sameMessage(v, back)
		},
	}
}
