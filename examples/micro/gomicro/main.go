// Gomicro is the go-micro half of the example: it serves Greeter, subscribes to the shop's events, and orders from it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"go-micro.dev/v5/client"
	"go-micro.dev/v5/logger"
	"go-micro.dev/v5/server"
)

type HelloRequest struct {
	Name string `json:"name"`
}

type HelloReply struct {
	Text string `json:"text"`
}

// doc: handler

// Greeter is a handler as go-micro has them.
type Greeter struct{}

func (*Greeter) Hello(_ context.Context, in *HelloRequest, out *HelloReply) error {
	out.Text = "Hello, " + in.Name
	return nil
}

// end

type Order struct {
	Item string `json:"item"`
	Name string `json:"name"`
}

type Placed struct {
	Item string `json:"item"`
}

type Confirmation struct {
	Text string `json:"text"`
}

func main() {
	name := flag.String("greeter", "greeting", "the name of this service")
	shop := flag.String("shop", "shop", "the name of the service of Sabir")
	endpoint := flag.String("endpoint", "Shop.Place", "the endpoint of its action place")
	flag.Parse()
	if err := run(*name, *shop, *endpoint); err != nil {
		log.Fatal(err)
	}
}

func run(name, shop, endpoint string) error {
	logger.Init(logger.WithLevel(logger.FatalLevel))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s := server.NewServer(server.Name(name), server.Address("127.0.0.1:0"))
	if err := s.Handle(s.NewHandler(new(Greeter))); err != nil {
		return err
	}
	events := make(chan string, 1)
	placed := func(_ context.Context, in *Placed) error {
		select {
		case events <- in.Item:
		default: // one is enough to see
		}
		return nil
	}
	if err := s.Subscribe(s.NewSubscriber(shop+".placed", placed)); err != nil {
		return err
	}
	if err := s.Start(); err != nil {
		return err
	}
	defer s.Stop()
	first := true
	for ctx.Err() == nil {
		var out Confirmation
		err := client.Call(ctx, client.NewRequest(shop, endpoint, &Order{"tea", "Ada"}), &out)
		switch {
		case err != nil:
			fmt.Fprintln(os.Stderr, "the shop does not answer yet:", err)
		case first:
			fmt.Println(out.Text)
			first = false
		}
		// An event reaches the subscribers that its sender knows, so the first order may have come too early for one.
		select {
		case item := <-events:
			fmt.Println("an event: an order of", item)
			<-ctx.Done()
			return nil
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
	return errors.New("it was ended before the shop answered")
}
