package rpc_test

import (
	"context"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir"
)

func TestAnActionTakesAndGivesGeneratedMessages(t *testing.T) {
	s := sabir.NewService("quotas")
	sabir.Handle(s, "explain", func(_ context.Context, in *errdetails.ErrorInfo) (*errdetails.ErrorInfo, error) {
		return &errdetails.ErrorInfo{Reason: in.GetReason(), Domain: "quotas", Metadata: in.GetMetadata()}, nil
	})
	url, _ := serve(t, []sabir.Servable{s})
	for name, options := range map[string][]connect.ClientOption{"gRPC": {connect.WithGRPC()}, "Connect": nil, "JSON over Connect": {connect.WithProtoJSON()}} {
		t.Run(name, func(t *testing.T) {
			call := connect.NewClient[errdetails.ErrorInfo, errdetails.ErrorInfo](client(t, false), url+"/quotas.Quotas/Explain", options...)
			got, err := call.CallUnary(t.Context(), connect.NewRequest(&errdetails.ErrorInfo{Reason: "FULL", Metadata: map[string]string{"left": "0"}}))
			want := &errdetails.ErrorInfo{Reason: "FULL", Domain: "quotas", Metadata: map[string]string{"left": "0"}}
			if err != nil || !proto.Equal(got.Msg, want) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

func TestDataThatIsGeneratedMessagesIsSentAsTheDetails(t *testing.T) {
	quota := &errdetails.QuotaFailure{Violations: []*errdetails.QuotaFailure_Violation{{Subject: "ada"}}}
	help := &errdetails.Help{Links: []*errdetails.Help_Link{{Url: "https://example.com"}}}
	full := sabir.NewError(sabir.CodeResourceExhausted, "", "full")
	s := sabir.NewService("quotas")
	sabir.Handle(s, "one", func(context.Context, sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, full.WithData(quota) })
	sabir.Handle(s, "two", func(context.Context, sabir.Empty) (sabir.Empty, error) {
		return sabir.Empty{}, full.WithData([]proto.Message{quota, help})
	})
	sabir.Handle(s, "none", func(context.Context, sabir.Empty) (sabir.Empty, error) {
		return sabir.Empty{}, full.WithData([]proto.Message{})
	})
	url, _ := serve(t, []sabir.Servable{s})
	each(t, func(t *testing.T, d dialect) {
		options := append([]connect.ClientOption{connect.WithCodec(structs{})}, d.options...)
		for method, want := range map[string][]proto.Message{"One": {quota}, "Two": {quota, help}, "None": nil} {
			_, err := connect.NewClient[sabir.Empty, sabir.Empty](client(t, d.http1), url+"/quotas.Quotas/"+method, options...).CallUnary(t.Context(), connect.NewRequest(&sabir.Empty{}))
			details := wantCode(t, err, connect.CodeResourceExhausted).Details()
			if len(details) != len(want) {
				t.Fatalf("%s: %d details", method, len(details))
			}
			for i := range want {
				if got, err := details[i].Value(); err != nil || !proto.Equal(got, want[i]) {
					t.Errorf("%s: %v %v", method, got, err)
				}
			}
		}
	})
}
