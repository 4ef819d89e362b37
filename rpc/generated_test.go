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
