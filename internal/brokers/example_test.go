package brokers_test

import (
	"fmt"
	"log"
	"net"

	"github.com/sabir-go/sabir/internal/brokers"
)

func ExampleStart() {
	server, err := brokers.Start(brokers.NATS, brokers.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()

	server.Kill() // as a crash
	_, err = net.Dial("tcp", server.Addr())
	fmt.Println("while it is gone:", err != nil)

	if err := server.Restart(); err != nil { // with the same port and files
		log.Fatal(err)
	}
	conn, err := net.Dial("tcp", server.Addr())
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	fmt.Println("it is back")
	// Output:
	// while it is gone: true
	// it is back
}
