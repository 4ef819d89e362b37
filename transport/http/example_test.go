package http_test

import (
	"context"
	"fmt"
	"log"
	nethttp "net/http"

	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/transport/http"
)

// A node whose links come in through the web server that is there already. The other nodes use
// sabir.Join("https://shop.example.com/sabir") where this one listens.
func ExampleHandler() {
	links, err := http.NewHandler("https://shop.example.com/sabir")
	if err != nil {
		log.Fatal(err)
	}
	nethttp.Handle("/sabir", links)

	l, err := transport.Listen(context.Background(), "https://shop.example.com/sabir", transport.Config{Keyed: true})
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	fmt.Println(l.Addr())
	// Output: https://shop.example.com:443/sabir
}
