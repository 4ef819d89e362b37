package docs

import (
	"context"
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/secret"
)

// What pages of docs/operate and the tutorial show of joining. Nodes of these options start where the addresses are.
func joinOptions(key, old, ordersPublic, billingPublic string, certificates *tls.Config, services ...sabir.Servable) []*sabir.Node {
	// doc: key
	node := sabir.NewNode(sabir.Join("tcp://0.0.0.0:7700", cluster.Config{
		Seeds: []string{"tcp://10.0.0.5:7700", "tcp://10.0.0.6:7700"},
		Key:   secret.New(key), // openssl rand -hex 32
	}))
	// end

	// doc: rotate
	rotating := sabir.Join("tcp://0.0.0.0:7700", cluster.Config{Key: secret.New(key), OldKeys: []secret.Secret{secret.New(old)}}) // the new key, then the old one
	// end

	// doc: tls
	secured := sabir.Join("tls://0.0.0.0:7700", cluster.Config{Seeds: []string{"tls://10.0.0.5:7700"}, TLS: certificates})
	// end

	// doc: node-keys
	named := sabir.Join("tcp://0.0.0.0:7700", cluster.Config{
		Key:         secret.New(key),
		NodeKeyFile: "/run/secrets/orders.key", // this node's group: openssl rand -hex 32
		NodeKeys: map[string]string{ // public keys, by sabir pubkey; the same on all nodes
			"orders-*":  ordersPublic,
			"billing-*": billingPublic,
		},
	})
	// end

	// doc: stop
	patient := sabir.NewNode(sabir.Serve(services...), sabir.Limits{StopTimeout: 25 * time.Second})
	// end
	return []*sabir.Node{node, sabir.NewNode(rotating), sabir.NewNode(secured), patient, sabir.NewNode(named)}
}

func TestTheOptionsOfOperationsAreValid(t *testing.T) {
	nodes := joinOptions("0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210", strings.Repeat("ab", 32), strings.Repeat("cd", 32), &tls.Config{MinVersion: tls.VersionTLS13})
	if len(nodes) != 5 {
		t.Fatal(len(nodes))
	}
	if err := nodes[3].Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := nodes[3].Stop(context.Background()); err != nil {
		t.Error(err)
	}
}
