package mqtt_test

import (
	"context"
	"fmt"

	_ "github.com/sabir-go/sabir/broker/mqtt"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

func Example() {
	ctx := context.Background()
	at, err := schemes.Parse("mqtt://sabir:secret@127.0.0.1")
	if err != nil {
		fmt.Println(err)
		return
	}
	driver, _ := transports.Bus(at.Scheme)
	broker, err := driver.Connect(ctx, at, transport.Config{}, transport.BusEvents{
		Lost:     func(err error) { fmt.Println("lost:", err) },
		Restored: func() { fmt.Println("back") },
		Unheard:  func(subject string) { fmt.Println("nobody listens on", subject) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer broker.Close()
	if err := broker.Subscribe(ctx, "sabir.shop.n1", func(data []byte) { fmt.Println("arrived:", len(data), "bytes") }); err != nil {
		fmt.Println(err)
		return
	}
	broker.Publish("sabir.shop.n1", []byte("hello"))
}
