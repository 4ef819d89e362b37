package docs

import (
	"context"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/mcp"
	"github.com/sabir-go/sabir/rpc"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
)

// The code of the guides to gRPC and MCP.

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
	// doc: mcp
	tools := sabir.NewNode(sabir.Serve(orders), sabir.HTTP(":3000", mcp.At("/mcp", mcp.Tools("orders.*"))))
	// end
	// doc: mcp-oauth
	guarded := sabir.HTTP("0.0.0.0:3000",
		web.Auth(auth.JWT(auth.JWTConfig{JWKS: "https://login.example.com/keys", Audiences: []string{"https://api.example.com/mcp"}})),
		mcp.At("/mcp", mcp.Tools("orders.*"), mcp.OAuth("https://api.example.com/mcp", "https://login.example.com")))
	// end
	if getInvoice == nil || node == nil || tools == nil || guarded == nil {
		t.Error("a node is missing")
	}
}
