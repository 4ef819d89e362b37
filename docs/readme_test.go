package docs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/policy"
	_ "github.com/sabir-go/sabir/web"
)

type HelloRequest struct {
	Name string `json:"name" validate:"required,max=64"`
}

type HelloReply struct {
	Text string `json:"text"`
}

func Example_readme() {
	ctx := context.Background()
	Hello := sabir.NewAction[HelloRequest, HelloReply]("greeter.hello")
	hello := func(_ context.Context, in HelloRequest) (HelloReply, error) {
		return HelloReply{Text: "Hello, " + in.Name}, nil
	}
	greeter := sabir.NewService("greeter")
	address := "mem://readme"

	// doc: readme-robust
	Hello.Handle(greeter, hello, sabir.Use(policy.Retry{}, policy.Breaker{}, policy.Timeout(2*time.Second)))
	// end

	items := sabir.NewService("items")
	type Item struct {
		ID string `json:"id"`
	}
	// doc: readme-rest
	Get := sabir.NewAction[Item, Item]("items.get", sabir.Route("GET", "/items/{id}"))
	// end
	Get.Handle(items, func(_ context.Context, in Item) (Item, error) { return in, nil })

	// doc: readme-cluster
	node := sabir.NewNode(sabir.Serve(greeter), sabir.Join(address)) // tcp://:7700, nats://10.0.0.9, …
	// end
	rest := sabir.NewNode(sabir.Serve(items), sabir.HTTP(":0"))
	if err := errors.Join(node.Start(ctx), rest.Start(ctx)); err != nil {
		fmt.Println(err)
		return
	}
	defer node.Stop(ctx)
	defer rest.Stop(ctx)

	// doc: readme-call
	reply, err := Hello.Call(ctx, node, HelloRequest{Name: "Ada"})
	// end
	fmt.Println(reply.Text, err)

	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get("http://" + rest.HTTPAddr() + "/items/compass")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	fmt.Println(answer.Status)
	// Output:
	// Hello, Ada <nil>
	// 200 OK
}
