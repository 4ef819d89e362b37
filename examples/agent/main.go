// Agent offers a service to agents, over the Model Context Protocol, and is the agent too: it lists the tools, calls some and reads a resource.
package main

import (
	"context"
	"fmt"
	"log"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/mcp"
)

type find struct {
	ID string `json:"id" validate:"required,startswith=o-" doc:"such as o-1"`
}

type order struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

// shop is an ordinary service: nothing in it is about agents.
func shop() *sabir.Service {
	orders := sabir.NewService("orders")
	sabir.Handle(orders, "get", func(_ context.Context, in find) (order, error) {
		return order{in.ID, "on its way"}, nil
	}, sabir.Doc("finds an order"), sabir.Route("GET", "/orders/{id}"))
	sabir.Handle(orders, "cancel", func(_ context.Context, in find) (sabir.Empty, error) {
		return sabir.Empty{}, sabir.NewError(sabir.CodeFailedPrecondition, "OnItsWay", "the order is on its way and cannot be cancelled")
	}, sabir.Doc("cancels an order"), sabir.Route("DELETE", "/orders/{id}"))
	sabir.Handle(orders, "purge", func(context.Context, sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, nil })
	return orders
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	// orders.purge is not named, and so no agent can call it.
	node := sabir.NewNode(sabir.Serve(shop()), sabir.HTTP("127.0.0.1:0", mcp.At("/mcp", mcp.Config{Tools: []string{"orders.get", "orders.cancel"}, Resources: []string{"orders.get"}})))
	if err := node.Start(ctx); err != nil {
		return err
	}
	defer node.Stop(ctx)

	agent, err := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, nil).
		Connect(ctx, &sdk.StreamableClientTransport{Endpoint: "http://" + node.HTTPAddr() + "/mcp"}, nil)
	if err != nil {
		return err
	}
	defer agent.Close()
	for tool, err := range agent.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		fmt.Printf("tool %s %s, only reads: %v\n", tool.Name, tool.Description, tool.Annotations.ReadOnlyHint)
	}
	for _, call := range []sdk.CallToolParams{
		{Name: "orders_get", Arguments: find{"o-1"}},
		{Name: "orders_get", Arguments: find{"1"}},
		{Name: "orders_cancel", Arguments: find{"o-1"}},
	} {
		result, err := agent.CallTool(ctx, &call)
		if err != nil {
			return err
		}
		fmt.Printf("%s: error %v: %s\n", call.Name, result.IsError, result.Content[0].(*sdk.TextContent).Text)
	}
	resource, err := agent.ReadResource(ctx, &sdk.ReadResourceParams{URI: "orders://o-2"})
	if err != nil {
		return err
	}
	fmt.Println("resource", resource.Contents[0].URI, resource.Contents[0].Text)
	return nil
}
