package transport_test

import (
	"context"
	"fmt"
	"io"
	"log"

	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/transport"
)

// A program that has import _ "github.com/sabir-go/sabir/transport/tcp" can use tcp://:0 here.
func ExampleListen() {
	ctx := context.Background()
	listener, err := transport.Listen(ctx, "tcp://:0", transport.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		io.WriteString(conn, "hello")
	}()

	conn, err := transport.Dial(ctx, listener.Addr(), transport.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	text, err := io.ReadAll(conn)
	fmt.Printf("%s %v\n", text, err)
}

// What other machines could reach stays closed until callers must prove their identity.
func ExampleConfig_ListenAddr() {
	at, _ := schemes.Parse("tcp://0.0.0.0:7700")
	_, err := transport.Config{}.ListenAddr(context.Background(), at)
	fmt.Println(err != nil)
	addr, err := transport.Config{Keyed: true}.ListenAddr(context.Background(), at)
	fmt.Println(addr, err)
	// Output:
	// true
	// 0.0.0.0:7700 <nil>
}
