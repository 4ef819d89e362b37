package main

import (
	"fmt"

	"google.golang.org/grpc/mem"
)

// generated is a message with the code that protoc-gen-go-vtproto makes. The bytes are those of protobuf.
type generated interface {
	SizeVT() int
	MarshalVT() ([]byte, error)
	MarshalToSizedBufferVT([]byte) (int, error)
	UnmarshalVT([]byte) error
}

func generatedOf(v any) (generated, error) {
	if m, ok := v.(generated); ok {
		return m, nil
	}
	return nil, fmt.Errorf("vtprotobuf: %T has no generated code", v)
}

// vtprotobuf is a codec of arpc for such messages.
type vtprotobuf struct{}

func (vtprotobuf) Marshal(v any) ([]byte, error) {
	m, err := generatedOf(v)
	if err != nil {
		return nil, err
	}
	return m.MarshalVT()
}

func (vtprotobuf) Unmarshal(data []byte, v any) error {
	m, err := generatedOf(v)
	if err != nil {
		return err
	}
	return m.UnmarshalVT(data)
}

// grpcVT is grpc-go's codec for such messages, with its pools as its own codec for protobuf uses them.
type grpcVT struct{}

func (grpcVT) Name() string { return "proto" }

func (grpcVT) Marshal(v any) (mem.BufferSlice, error) {
	m, err := generatedOf(v)
	if err != nil {
		return nil, err
	}
	size := m.SizeVT()
	if mem.IsBelowBufferPoolingThreshold(size) {
		data, err := m.MarshalVT()
		return mem.BufferSlice{mem.SliceBuffer(data)}, err
	}
	pool := mem.DefaultBufferPool()
	data := pool.Get(size)
	if _, err := m.MarshalToSizedBufferVT((*data)[:size]); err != nil {
		pool.Put(data)
		return nil, err
	}
	return mem.BufferSlice{mem.NewBuffer(data, pool)}, nil
}

func (grpcVT) Unmarshal(data mem.BufferSlice, v any) error {
	m, err := generatedOf(v)
	if err != nil {
		return err
	}
	whole := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer whole.Free()
	return m.UnmarshalVT(whole.ReadOnlyData())
}
