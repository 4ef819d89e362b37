package links_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
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
