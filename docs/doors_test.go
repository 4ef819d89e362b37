package docs

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/mcp"
	"github.com/sabir-go/sabir/rpc"
	"github.com/sabir-go/sabir/trpc"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/webhook"
)

// The code of the guides to gRPC, MCP, tRPC and webhooks.

// doc: rpc-dial-types
type InvoiceRequest struct {
	ID string `json:"id" protobuf:"1"`
}

type Invoice struct {
	Number string `json:"number" protobuf:"2"`
	Cents  int64  `json:"cents" protobuf:"5"`
}

// end

func TestDoorsOfTheGuide(t *testing.T) {
	getUser := func(_ context.Context, in GetUser) (UserInfo, error) { return UserInfo(in), nil }
	orders := sabir.NewService("orders")
	sabir.Handle(orders, "get", getUser)
	// doc: rpc
	users := sabir.NewService("users", sabir.Use(rpc.Package("shop.v1"))) // the package is optional
	sabir.Handle(users, "get", getUser)

	node := sabir.NewNode(sabir.Serve(users), sabir.HTTP(":3000", rpc.Serve()))
	// end
	// doc: rpc-dial
	shop := sabir.NewNode(rpc.Dial(rpc.Foreign{URL: "http://billing:50051"}))
	getInvoice := func(ctx context.Context, id string) (Invoice, error) {
		return sabir.Call[Invoice](ctx, shop, "billing.getInvoice", InvoiceRequest{ID: id})
	}
	// end
	// doc: rpc-dial-files
	describedBy := func(file string) (*descriptorpb.FileDescriptorSet, error) {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		files := &descriptorpb.FileDescriptorSet{}
		return files, proto.Unmarshal(text, files) // for rpc.Foreign{URL: …, Files: files}
	}
	// end
	set, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{Name: proto.String("billing.proto")}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "billing.binpb")
	if err := os.WriteFile(file, set, 0o600); err != nil {
		t.Fatal(err)
	}
	if files, err := describedBy(file); err != nil || files.File[0].GetName() != "billing.proto" {
		t.Errorf("got %v, %v", files, err)
	}
	// doc: mcp
	tools := sabir.NewNode(sabir.Serve(orders), sabir.HTTP(":3000", mcp.At("/mcp", mcp.Config{Tools: []string{"orders.*"}})))
	// end
	// doc: trpc
	store := sabir.NewNode(sabir.Serve(orders), sabir.HTTP(":3000", trpc.At("/trpc")))
	// end
	endpoints := func(context.Context) ([]webhook.Endpoint, error) { return nil, nil }
	// doc: webhook-deliver
	hooks := sabir.NewService("hooks")
	webhook.Deliver(hooks, webhook.Delivery{
		Channel:   "shop.hooks",
		Events:    []string{"orders.*"},
		Prefix:    "com.example.",
		Endpoints: endpoints, // a func(context.Context) ([]webhook.Endpoint, error), such as one that asks your database
	})
	sender := sabir.NewNode(channel.Broker("nats://embedded"), sabir.Serve(hooks))
	// end
	secrets := []string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
	// doc: webhook-receive
	receiver := sabir.NewNode(sabir.Serve(orders), sabir.HTTP(":3000",
		webhook.Receive("/hooks", webhook.Receiver{Secrets: secrets, Prefix: "com.example.", Events: []string{"orders.*"}})))
	// end
	place := func(context.Context, webhook.Event) error { return nil }
	// doc: webhook-channel
	Events := channel.New[webhook.Event]("shop.events", channel.Config{Codec: "binary"})
	Events.Consume(orders, func(ctx context.Context, e webhook.Event) error { return place(ctx, e) })
	// end
	// doc: mcp-oauth
	guarded := sabir.HTTP("0.0.0.0:3000",
		web.With(web.Config{Auth: []auth.Authenticator{
			&auth.JWT{JWKS: "https://login.example.com/keys", Audiences: []string{"https://api.example.com/mcp"}},
		}}),
		mcp.At("/mcp", mcp.Config{Tools: []string{"orders.*"}, OAuthResource: "https://api.example.com/mcp", OAuthServers: []string{"https://login.example.com"}}))
	// end
	if getInvoice == nil || node == nil || tools == nil || store == nil || sender == nil || receiver == nil || guarded == nil {
		t.Error("a node is missing")
	}
}
