package integration

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/protobuf"
	"github.com/sabir-go/sabir/rpc"
)

// These types are the messages of connectrpc/conformance/v1/service.proto as plain structs.

const conformancePackage = "connectrpc.conformance.v1"

type conformanceHeader struct {
	Name  string   `json:"name"`
	Value []string `json:"value"`
}

type conformanceError struct {
	Code    conformanceCode `json:"code"`
	Message *string         `json:"message"`
	Details []*anypb.Any    `json:"details"`
}

type unaryDefinition struct {
	Headers  []conformanceHeader `json:"response_headers"`
	Data     []byte              `json:"response_data"`
	Error    *conformanceError   `json:"error"`
	Trailers []conformanceHeader `json:"response_trailers"`
	Delay    uint32              `json:"response_delay_ms" protobuf:"6"`
}

type streamDefinition struct {
	Headers  []conformanceHeader `json:"response_headers"`
	Data     [][]byte            `json:"response_data"`
	Delay    uint32              `json:"response_delay_ms"`
	Error    *conformanceError   `json:"error"`
	Trailers []conformanceHeader `json:"response_trailers"`
}

type unaryRequest struct {
	Definition *unaryDefinition `json:"response_definition"`
	Data       []byte           `json:"request_data"`
}

type serverStreamRequest struct {
	Definition *streamDefinition `json:"response_definition"`
	Data       []byte            `json:"request_data"`
}

type bidiStreamRequest struct {
	Definition *streamDefinition `json:"response_definition"`
	FullDuplex bool              `json:"full_duplex"`
	Data       []byte            `json:"request_data"`
}

type requestInfo struct {
	Headers  []conformanceHeader `json:"request_headers"`
	Timeout  *int64              `json:"timeout_ms"`
	Requests []*anypb.Any        `json:"requests"`
}

type conformancePayload struct {
	Data []byte       `json:"data"`
	Info *requestInfo `json:"request_info"`
}

// conformanceResponse is the answer of all methods.
type conformanceResponse struct {
	Payload *conformancePayload `json:"payload"`
}

// conformanceCode is an enum, which JSON has by its names.
type conformanceCode int32

var conformanceCodes protoreflect.EnumType // set where the service is served

func (conformanceCode) Descriptor() protoreflect.EnumDescriptor      { return conformanceCodes.Descriptor() }
func (conformanceCode) Type() protoreflect.EnumType                  { return conformanceCodes }
func (c conformanceCode) Number() protoreflect.EnumNumber            { return protoreflect.EnumNumber(c) }
func (c *conformanceCode) UnmarshalNumber(n protoreflect.EnumNumber) { *c = conformanceCode(n) }

// conformanceService answers as its caller asks it to. What each method owes is in the comments of service.proto.
func conformanceService() *sabir.Service {
	s := sabir.NewService("conformance-service", sabir.Use(rpc.Package(conformancePackage)))
	unary := func(name string) func(context.Context, unaryRequest) (conformanceResponse, error) {
		return func(ctx context.Context, in unaryRequest) (conformanceResponse, error) {
			return in.Definition.answer(ctx, []*anypb.Any{asAny(name, in)})
		}
	}
	sabir.Handle(s, "unary", unary("UnaryRequest"))
	sabir.Handle(s, "idempotent-unary", unary("IdempotentUnaryRequest"), sabir.Use(rpc.NoSideEffects()))
	sabir.HandleStream(s, "server-stream", func(ctx context.Context, stream *sabir.Stream[serverStreamRequest, conformanceResponse]) error {
		in, err := stream.Recv()
		if err != nil {
			return err
		}
		return in.Definition.send(ctx, stream.Send, []*anypb.Any{asAny("ServerStreamRequest", in)})
	}, sabir.ServerStream())
	sabir.HandleStream(s, "client-stream", func(ctx context.Context, stream *sabir.Stream[unaryRequest, conformanceResponse]) error {
		var definition *unaryDefinition
		var requests []*anypb.Any
		for in, err := range stream.All() {
			if err != nil {
				return err
			}
			if requests == nil {
				definition = in.Definition
			}
			requests = append(requests, asAny("ClientStreamRequest", in))
		}
		answer, err := definition.answer(ctx, requests)
		if err != nil {
			return err
		}
		return stream.Send(answer)
	}, sabir.ClientStream())
	sabir.HandleStream(s, "bidi-stream", func(ctx context.Context, stream *sabir.Stream[bidiStreamRequest, conformanceResponse]) error {
		in, err := stream.Recv()
		if err != nil {
			return err
		}
		if in.FullDuplex {
			return in.alternate(ctx, stream)
		}
		requests := []*anypb.Any{asAny("BidiStreamRequest", in)}
		for next, err := range stream.All() {
			if err != nil {
				return err
			}
			requests = append(requests, asAny("BidiStreamRequest", next))
		}
		return in.Definition.send(ctx, stream.Send, requests)
	})
	return s
}

// answer is for one request, or for all those of a client's stream.
func (d *unaryDefinition) answer(ctx context.Context, requests []*anypb.Any) (conformanceResponse, error) {
	info := infoOf(ctx, requests)
	if d == nil {
		return conformanceResponse{&conformancePayload{Info: info}}, nil
	}
	addMetadata(ctx, d.Headers, d.Trailers)
	if err := wait(ctx, d.Delay); err != nil {
		return conformanceResponse{}, err
	}
	if d.Error != nil {
		return conformanceResponse{}, d.Error.with(info)
	}
	return conformanceResponse{&conformancePayload{d.Data, info}}, nil
}

// send sends what the definition has, and returns its error. The first answer, or the error, describes the requests.
func (d *streamDefinition) send(ctx context.Context, send func(conformanceResponse) error, requests []*anypb.Any) error {
	if d == nil {
		return nil
	}
	addMetadata(ctx, d.Headers, d.Trailers)
	info := infoOf(ctx, requests)
	for _, data := range d.Data {
		if err := wait(ctx, d.Delay); err != nil {
			return err
		}
		if err := send(conformanceResponse{&conformancePayload{data, info}}); err != nil {
			return err
		}
		info = nil
	}
	if d.Error != nil {
		return d.Error.with(info)
	}
	return nil
}

// alternate sends one answer for each request.
func (in bidiStreamRequest) alternate(ctx context.Context, stream *sabir.Stream[bidiStreamRequest, conformanceResponse]) error {
	d := in.Definition
	if d == nil {
		return nil
	}
	addMetadata(ctx, d.Headers, d.Trailers)
	info := infoOf(ctx, []*anypb.Any{asAny("BidiStreamRequest", in)})
	for i, data := range d.Data {
		if i > 0 {
			next, err := stream.Recv()
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			info = nil
			if err == nil {
				info = &requestInfo{Requests: []*anypb.Any{asAny("BidiStreamRequest", next)}}
			}
		}
		if err := wait(ctx, d.Delay); err != nil {
			return err
		}
		if err := stream.Send(conformanceResponse{&conformancePayload{data, info}}); err != nil {
			return err
		}
	}
	if d.Error == nil {
		return nil
	}
	if len(d.Data) > 0 {
		info = nil
	}
	return d.Error.with(info)
}

// with is the error with the request, if it is not described yet, as its last detail.
func (e *conformanceError) with(info *requestInfo) error {
	var message string
	if e.Message != nil {
		message = *e.Message
	}
	var details []proto.Message
	for _, one := range e.Details {
		details = append(details, one)
	}
	if info != nil {
		details = append(details, asAny("ConformancePayload.RequestInfo", info))
	}
	return sabir.NewError(sabir.Code(e.Code), "", message).WithData(details)
}

func asAny(name string, message any) *anypb.Any {
	data, err := protobuf.Codec.Append(nil, message)
	if err != nil {
		panic(err)
	}
	return &anypb.Any{TypeUrl: "type.googleapis.com/" + conformancePackage + "." + name, Value: data}
}

// ownTimeout is the limit of the server, which no caller of the suite has.
const ownTimeout = 24 * time.Hour

// infoOf describes a call: what its handler can see of it.
func infoOf(ctx context.Context, requests []*anypb.Any) *requestInfo {
	info := &requestInfo{Requests: requests}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < ownTimeout/2 {
		left := time.Until(deadline).Milliseconds()
		info.Timeout = &left
	}
	for name, value := range sabir.InfoFromContext(ctx).Metadata {
		info.Headers = append(info.Headers, conformanceHeader{name, []string{value}})
	}
	return info
}

func addMetadata(ctx context.Context, headers, trailers []conformanceHeader) {
	for _, h := range headers {
		_ = sabir.Answer(ctx).SetHeader(h.Name, strings.Join(h.Value, ", "))
	}
	for _, h := range trailers {
		_ = sabir.Answer(ctx).SetTrailer(h.Name, strings.Join(h.Value, ", "))
	}
}

func wait(ctx context.Context, milliseconds uint32) error {
	select {
	case <-time.After(time.Duration(milliseconds) * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
