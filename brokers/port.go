package brokers

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// freePort is a loopback port on which nothing listens. It lies below those that kernels give to outgoing connections
// (32768 and up on Linux, 49152 and up by RFC 6335): otherwise a client's attempts to connect again could be given the
// port of the broker that is gone, and keep it from coming back.
func freePort() (int, error) {
	for range 100 {
		port := 16384 + rand.IntN(16384)
		listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		return port, listener.Close()
	}
	return 0, errors.New("no free port was found from 16384 to 32767")
}
