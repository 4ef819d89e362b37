package tcp_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/transport/tcp"
)

// asPeer is the variable that makes the test binary a peer, which a test can kill: the address to listen on.
const asPeer = "SABIR_TEST_PEER"

func TestMain(m *testing.M) {
	if address := os.Getenv(asPeer); address != "" {
		if err := peer(address); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// peer sends back the first byte of one connection and then reads for ever.
func peer(address string) error {
	config := transport.Config{}
	if cert := os.Getenv(asPeer + "_CERT"); cert != "" {
		var err error
		if config.TLS, err = tcp.Certificates(cert, os.Getenv(asPeer+"_KEY"), os.Getenv(asPeer+"_CA")); err != nil {
			return err
		}
	}
	l, err := transport.Listen(context.Background(), address, config)
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	first := make([]byte, 1)
	if _, err := conn.Read(first); err != nil {
		return err
	}
	if _, err := conn.Write(first); err != nil {
		return err
	}
	_, err = conn.Read(first)
	return err
}
