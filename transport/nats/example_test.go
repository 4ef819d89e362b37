package nats_test

import (
	"context"
	"fmt"
	"log"
	"net/url"
	"time"

	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/transport/nats"
)

func Example() {
	at, err := schemes.Parse("nats://embedded:0") // a NATS server in this process
	if err != nil {
		log.Fatal(err)
	}
	driver, _ := transports.Bus(at.Scheme)
	broker, err := driver.Connect(context.Background(), at, transport.Config{}, transport.BusEvents{})
	if err != nil {
		log.Fatal(err)
	}
	defer broker.Close()

	arrived := make(chan string)
	err = broker.Subscribe(context.Background(), "news", func(data []byte) { arrived <- string(data) })
	if err != nil {
		log.Fatal(err)
	}
	if err := broker.Publish("news", []byte("hello")); err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-arrived)
	// Output: hello
}

func ExampleConnect() {
	at, err := url.Parse("nats://embedded:0")
	if err != nil {
		log.Fatal(err)
	}
	conn, release, err := nats.Connect(context.Background(), at, transport.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer release()
	defer conn.Close() // before the release

	roundTrip, err := conn.RTT()
	fmt.Println(err == nil && roundTrip < time.Second)
	// Output: true
}
