package web_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web"
)

type greeting struct {
	Name string `json:"name" validate:"required"`
}

type reply struct {
	Text string `json:"text"`
}

// A node offers an action over HTTP, and another node calls it as if it were its own.
func ExampleDial() {
	ctx := context.Background()
	greeter := sabir.NewService("greeter")
	sabir.Handle(greeter, "hello", func(_ context.Context, in greeting) (reply, error) {
		return reply{"Hello, " + in.Name}, nil
	})
	server := sabir.NewNode(sabir.Serve(greeter), sabir.HTTP(":0"))
	if err := server.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer server.Stop(ctx)

	client, err := web.Dial("http://" + server.HTTPAddr())
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	node := sabir.NewNode(sabir.Via(client))
	if err := node.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer node.Stop(ctx)

	out, err := sabir.Call[reply](ctx, node, "greeter.hello", greeting{Name: "Ada"})
	fmt.Println(out.Text, err)
	_, err = sabir.Call[reply](ctx, node, "greeter.hello", greeting{})
	fmt.Println(sabir.AsError(err).Name)
	// Output:
	// Hello, Ada <nil>
	// ValidationFailed
}
