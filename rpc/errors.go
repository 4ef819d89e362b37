package rpc

import (
	"errors"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/validate"
)

// errorDomain is the domain of the reasons in google.rpc.ErrorInfo, which are the names of errors.
const errorDomain = "sabir"

// toConnect is an error as clients have it: the code is the same number, and its name and data are details.
func toConnect(e *sabir.Error) *connect.Error {
	c := connect.NewError(connect.Code(e.Code.GRPCStatus()), errors.New(e.Message))
	if e.Name != "" && e.Name != e.Code.String() { // which the code says already
		addDetail(c, &errdetails.ErrorInfo{Reason: e.Name, Domain: errorDomain})
	}
	if e.Retryable {
		addDetail(c, &errdetails.RetryInfo{RetryDelay: durationpb.New(retryDelay)})
	}
	if e.Data == nil {
		return c
	}
	if messages, ok := messagesOf(e.Data); ok {
		for _, m := range messages {
			addDetail(c, m)
		}
		return c
	}
	if fields := violations(e); fields != nil {
		addDetail(c, fields)
		return c
	}
	if data := structOf(e.Data); data != nil {
		addDetail(c, data)
	}
	return c
}

// fromConnect is an error of another server, or of connect itself.
func fromConnect(err error) *sabir.Error {
	var c *connect.Error
	if !errors.As(err, &c) {
		return sabir.AsError(err)
	}
	code := sabir.CodeUnknown // as gRPC has it for a number that is no code
	if number := c.Code(); number >= connect.CodeCanceled && number <= connect.CodeUnauthenticated {
		code = sabir.Code(number)
	}
	e := sabir.NewError(code, code.String(), c.Message())
	var others []proto.Message
	for _, d := range c.Details() {
		value, err := d.Value()
		if err != nil {
			continue // of a type that is not known here
		}
		switch detail := value.(type) {
		case *errdetails.ErrorInfo:
			e.Name = detail.GetReason()
			if data := detail.GetMetadata(); len(data) > 0 && e.Data == nil {
				e.Data = data
			}
		case *errdetails.BadRequest:
			e.Data = fieldErrors(detail)
		case *errdetails.RetryInfo:
			e.Retryable = true
		case *structpb.Struct:
			e.Data = detail.AsMap()
		case *structpb.Value:
			e.Data = detail.AsInterface()
		default:
			others = append(others, value)
		}
	}
	if e.Data == nil && others != nil {
		e.Data = others
	}
	return e
}

func fieldErrors(bad *errdetails.BadRequest) (fields validate.Errors) {
	for _, v := range bad.GetFieldViolations() {
		fields = append(fields, validate.FieldError{Path: v.GetField(), Rule: v.GetReason(), Message: v.GetDescription()})
	}
	return fields
}

// retryDelay is the time that clients are asked to wait before they try again, as Retry-After does over HTTP.
const retryDelay = time.Second

// addDetail adds a detail. One that cannot be encoded, such as a text that is not UTF-8, is left out: the error itself counts more.
func addDetail(c *connect.Error, m proto.Message) {
	if d, err := connect.NewErrorDetail(m); err == nil {
		c.AddDetail(d)
	}
}

// messagesOf is data that is a generated message, or a slice of these; ok is false for other data.
func messagesOf(data any) (messages []proto.Message, ok bool) {
	switch data := data.(type) {
	case proto.Message:
		return []proto.Message{data}, true
	case []proto.Message:
		return data, true
	}
	return nil, false
}

// violations are the fields that broke rules; nil for another error.
func violations(e *sabir.Error) *errdetails.BadRequest {
	fields, ok := e.Data.(validate.Errors) // perhaps of another server, under a name of its own
	if !ok && e.Name == sabir.ErrValidationFailed.Name {
		fields, _ = sabir.DataAs[validate.Errors](e)
	}
	if fields == nil {
		return nil
	}
	bad := &errdetails.BadRequest{}
	for i := range fields {
		bad.FieldViolations = append(bad.FieldViolations,
			&errdetails.BadRequest_FieldViolation{Field: fields[i].Path, Description: fields[i].Message, Reason: fields[i].Rule})
	}
	return bad
}

// structOf is the data of an error as a Struct, or as a Value where it is no object; nil where it has no JSON.
func structOf(data any) proto.Message {
	text, err := json.Codec.Append(nil, data)
	if err != nil {
		return nil
	}
	var value structpb.Value
	if err := value.UnmarshalJSON(text); err != nil {
		return nil
	}
	if object := value.GetStructValue(); object != nil {
		return object
	}
	return &value
}
