package mem_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/transport/mem"
)

func ExampleNetwork_Cut() {
	ctx := context.Background()
	network := mem.New()
	listener, _ := network.Listen(ctx, at("berlin"), transport.Config{Name: "berlin"})
	defer listener.Close()

	conn, _ := network.Dial(ctx, at("berlin"), transport.Config{Name: "aden"})
	defer conn.Close()
	network.Cut("aden", "berlin")
	_, err := conn.Write([]byte("hello?"))
	fmt.Println(errors.Is(err, syscall.ECONNRESET))
	// Output: true
}
