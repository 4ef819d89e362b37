package integration

import (
	"context"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/rpc"
)

// These types are the messages of grpc/testing/messages.proto that the cases use, as plain structs.

type testPayload struct {
	Kind int32  `json:"type"`
	Body []byte `json:"body"`
}

type testStatus struct {
	Code    int32  `json:"code"`
	Message string `json:"message"`
}

type testRequest struct {
	Kind    int32       `json:"response_type"`
	Size    int32       `json:"response_size"`
	Payload testPayload `json:"payload"`
	Status  *testStatus `json:"response_status" protobuf:"7"`
}

type testResponse struct {
	Payload testPayload `json:"payload"`
	Server  string      `json:"server_id" protobuf:"4"`
}

type testInput struct {
	Payload testPayload `json:"payload"`
}

type testSum struct {
	Size int32 `json:"aggregated_payload_size"`
}

type testAnswer struct {
	Size     int32 `json:"size"`
	Interval int32 `json:"interval_us"` // microseconds
}

type testOutputs struct {
	Kind    int32        `json:"response_type"`
	Answers []testAnswer `json:"response_parameters"`
	Payload testPayload  `json:"payload"`
	Status  *testStatus  `json:"response_status" protobuf:"7"`
}

// The metadata that the service sends back.
const (
	echoInitial  = "x-grpc-test-echo-initial"
	echoTrailing = "x-grpc-test-echo-trailing-bin"
)

// testService is grpc.testing.TestService, whose methods are described in doc/interop-test-descriptions.md of the project grpc.
func testService() *sabir.Service {
	s := sabir.NewService("test-service", sabir.Use(rpc.Package("grpc.testing")))
	sabir.Handle(s, "empty-call", func(context.Context, sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, nil })
	sabir.Handle(s, "unary-call", func(ctx context.Context, in testRequest) (testResponse, error) {
		if err := sendBack(ctx); err != nil {
			return testResponse{}, err
		}
		return testResponse{testPayload{in.Kind, make([]byte, max(in.Size, 0))}, sabir.NodeFromContext(ctx).ID()}, in.Status.err()
	})
	sabir.HandleStream(s, "streaming-output-call", func(ctx context.Context, stream *sabir.Stream[testOutputs, testResponse]) error {
		in, err := stream.Recv()
		if err != nil {
			return err
		}
		return in.answer(ctx, stream)
	}, sabir.ServerStream())
	sabir.HandleStream(s, "streaming-input-call", func(_ context.Context, stream *sabir.Stream[testInput, testSum]) error {
		var sum testSum
		for in, err := range stream.All() {
			if err != nil {
				return err
			}
			sum.Size += int32(len(in.Payload.Body))
		}
		return stream.Send(sum)
	}, sabir.ClientStream())
	sabir.HandleStream(s, "full-duplex-call", func(ctx context.Context, stream *sabir.Stream[testOutputs, testResponse]) error {
		if err := sendBack(ctx); err != nil {
			return err
		}
		for in, err := range stream.All() {
			if err == nil {
				err = in.Status.err()
			}
			if err == nil {
				err = in.answer(ctx, stream)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return s
}

func sendBack(ctx context.Context) error {
	var err error
	pairs := sabir.InfoFromContext(ctx).Metadata
	if value := pairs[echoInitial]; value != "" {
		err = sabir.Answer(ctx).SetHeader(echoInitial, value)
	}
	if value := pairs[echoTrailing]; value != "" && err == nil {
		err = sabir.Answer(ctx).SetTrailer(echoTrailing, value)
	}
	return err
}

func (s *testStatus) err() error {
	if s == nil || s.Code == 0 {
		return nil
	}
	return sabir.NewError(sabir.Code(s.Code), "", s.Message)
}

func (in testOutputs) answer(ctx context.Context, stream *sabir.Stream[testOutputs, testResponse]) error {
	for _, a := range in.Answers {
		select {
		case <-time.After(time.Duration(a.Interval) * time.Microsecond):
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := stream.Send(testResponse{Payload: testPayload{in.Kind, make([]byte, max(a.Size, 0))}}); err != nil {
			return err
		}
	}
	return nil
}
