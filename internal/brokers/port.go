package brokers

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
)

// FreeAddress is a loopback address, host:port, at which nothing listens just now: for servers whose address has to be known
// before they are there, or that come back where they were. network is "tcp" or "udp". The port lies below those that kernels
// give to outgoing connections and to listeners that ask for any port (32768 and up on Linux, 49152 and up by RFC 6335), so a
// client's attempts to connect again, or any other program, are not given the port of a server that is gone for a moment.
func FreeAddress(network string) (string, error) {
	port, err := freePort(network)
	return atPort(port), err
}

func freePort(network string) (int, error) {
	for range 100 {
		port := 16384 + rand.IntN(16384)
		if taken(network, atPort(port)) == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free %s port was found from 16384 to 32767", network)
}

func atPort(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// taken reports why nothing can listen at address.
func taken(network, address string) error {
	var listening io.Closer
	var err error
	if network == "udp" {
		listening, err = net.ListenPacket(network, address)
	} else {
		listening, err = net.Listen(network, address)
	}
	if err != nil {
		return err
	}
	return listening.Close()
}
