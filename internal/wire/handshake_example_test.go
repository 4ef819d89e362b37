package wire_test

import (
	"context"
	"fmt"
	"net"

	"github.com/sabir-go/sabir/internal/seal"
	"github.com/sabir-go/sabir/internal/wire"
)

// Two nodes with different keys: both get the reason.
func ExampleHandshake() {
	atDialler, atAcceptor := net.Pipe()
	accepted := make(chan error)
	go func() {
		config := wire.Config{Node: "stock-1", Cluster: "shop", Keys: seal.NewKeys("a key of the production cluster")}
		_, _, err := wire.Handshake(context.Background(), atAcceptor, config, false, "")
		accepted <- err
	}()
	config := wire.Config{Node: "cart-1", Cluster: "shop", Keys: seal.NewKeys("a key of somebody's own machine")}
	_, _, err := wire.Handshake(context.Background(), atDialler, config, true, wire.ForLink)
	fmt.Println(err)
	fmt.Println(<-accepted)
	// Output:
	// wire: handshake with a peer at pipe: refused by it: wrong key: the proof of the dialling side does not match: the two have different cluster keys, or something between them changes what they say
	// wire: handshake with a peer at pipe: wrong key: the proof of the dialling side does not match: the two have different cluster keys, or something between them changes what they say
}
