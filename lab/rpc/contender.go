package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"

	"github.com/sabir-go/sabir/brokers"
)

// contender is one way to make a call from one process to another.
type contender struct {
	name     string
	codec    string // what turns the message into bytes
	settings string // connections, and whatever is not the default
	limit    bool   // not a peer but a limit: less work than any RPC library must do
	network  string // "tcp", "udp" or "unix"; with a broker it has no meaning
	modes    []mode
	quick    bool // takes part in -quick

	broker brokers.Kind // which runs beside the two processes; the address is its URL
	node   bool         // both sides are the Node program of package peers, in place of serve and dial

	// serve starts the server's side at an address and returns when it listens.
	serve func(address string) (stop func(), err error)
	// dial starts the client's side for a number of concurrent callers.
	dial func(address string, callers int) (*client, error)
}

// mode is what is measured.
type mode string

const (
	callMode   mode = "call"   // echo of the 677-byte message
	echoMode   mode = "echo"   // echo of a blob
	streamMode mode = "stream" // blobs one way, counted by the server
	batchMode  mode = "batch"  // 25 messages of 677 bytes as one, answered by one of 25 of 611 bytes
)

// client is the client's side of a contender. Of its functions those are set whose modes the contender has; each is
// called once for each caller, before that caller starts.
type client struct {
	say   func(caller int) roundTrip
	echo  func(caller, size int) roundTrip
	push  func(caller, size int) (*pushing, error)
	batch batching
	close func()
}

// roundTrip makes one call and checks its reply: always that it is the reply of this call, with full every field.
type roundTrip func(sequence int, full bool) error

// pushing is one stream of blobs from client to server.
type pushing struct {
	send func() error
	// finish ends the stream and returns what the server has received.
	finish func() (messages, bytes int64, err error)
}

// has says whether the contender takes part in a mode.
func (c contender) has(m mode) bool { return slices.Contains(c.modes, m) }

// contenders are all of them but those of single carriers, in the order of the files.
func contenders() []contender {
	return slices.Concat(rawContenders(), muxContenders(), netrpcContenders(), grpcContenders(), drpcContenders(),
		arpcContenders(), rpcxContenders(), kitexContenders(), natsContenders(), sabirContenders())
}

// missing says which peers are not here, and why.
func missing() []string {
	return []string{
		"hslam/rpc: the module proxy serves neither its list of versions nor v0.0.1, v0.0.2 or the latest",
		"go-micro v6: the module proxy serves neither its list of versions nor v6.0.0 or the latest; v5.9.0 is not in the checksum database",
	}
}

// freeAddress is an address that nobody listens at just now.
func freeAddress(network string) (address string, remove func(), err error) {
	if network == "unix" {
		dir, err := os.MkdirTemp("", "lab")
		if err != nil {
			return "", nil, fmt.Errorf("a folder for the socket: %w", err)
		}
		return filepath.Join(dir, "socket"), func() { os.RemoveAll(dir) }, nil
	}
	if network == "udp" {
		conn, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			return "", nil, fmt.Errorf("a free port: %w", err)
		}
		defer conn.Close()
		return conn.LocalAddr().String(), func() {}, nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().String(), func() {}, nil
}
