// Doors serves what the pages about HTTP, gRPC, tRPC and webhooks call: it is run by docs/testdata/doors.sh.
package main

import (
	"bytes"
	"context"
	"log"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/rpc"
	"github.com/sabir-go/sabir/trpc"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/rest"
	"github.com/sabir-go/sabir/webhook"
)

type GetFile struct {
	Name string `json:"name"`
}

type GetUser struct {
	ID string `json:"id"`
}

func main() {
	get := func(_ context.Context, in GetUser) (GetUser, error) { return in, nil }
	users := sabir.NewService("users", sabir.Use(rpc.Package("shop.v1")))
	sabir.Handle(users, "get", get)
	orders := sabir.NewService("orders")
	sabir.Handle(orders, "get", get, sabir.Route("GET", "/orders/{id}"))
	sabir.On(orders, "orders.placed", func(_ context.Context, placed GetUser) error {
		log.Println("placed", placed.ID)
		return nil
	})
	files := sabir.NewService("files")
	sabir.HandleStream(files, "put", func(_ context.Context, s *sabir.Stream[[]byte, int]) error {
		size := 0
		for chunk, err := range s.All() {
			if err != nil {
				return err
			}
			size += len(chunk)
		}
		return s.Send(size)
	}, sabir.Route("PUT", "/files/{name}"))
	began := time.Now()
	sabir.HandleStream(files, "get", func(ctx context.Context, s *sabir.Stream[GetFile, []byte]) error {
		in, err := s.Recv()
		if err != nil {
			return err
		}
		return rest.Download(ctx, s, bytes.NewReader(make([]byte, 1<<20)), rest.File{Name: in.Name, Modified: began})
	}, sabir.Route("GET", "/files/{name}"))
	nobody := &auth.Key{Keys: map[string]auth.Principal{"a-key-that-nobody-has": {Subject: "nobody"}}}
	node := sabir.NewNode(sabir.Serve(users, orders, files), sabir.HTTP(":3000", web.With(web.Config{Auth: []auth.Authenticator{nobody}, AllowAnonymous: true}),
		rpc.Serve(), trpc.At("/trpc"), webhook.Receive("/hooks", webhook.Receiver{Prefix: "com.example.", Events: []string{"orders.*"}})))
	if err := node.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
