package main

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/broker/amqp" // whatever a cluster was joined at
	_ "github.com/sabir-go/sabir/broker/mqtt"
	_ "github.com/sabir-go/sabir/broker/nats"
	_ "github.com/sabir-go/sabir/broker/redis"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/internal/wire"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/transport"
	_ "github.com/sabir-go/sabir/transport/grpc"
	_ "github.com/sabir-go/sabir/transport/h2"
	_ "github.com/sabir-go/sabir/transport/http"
	_ "github.com/sabir-go/sabir/transport/kcp"
	_ "github.com/sabir-go/sabir/transport/quic"
	"github.com/sabir-go/sabir/transport/tcp"
	_ "github.com/sabir-go/sabir/transport/utp"

	_ "github.com/sabir-go/sabir/transport/mem"
)

// clusterClient is the command line as a client-only node of the cluster: it calls all others, offers nothing and is not listed.
type clusterClient struct {
	node    *sabir.Node
	address string // without the password of a broker
	to      string // the node that all calls go to; "" for whichever offers the action
}

// joinCluster starts the observer node; the caller closes it.
func (c *cli) joinCluster(ctx context.Context, more ...sabir.NodeOption) (*clusterClient, error) {
	address := c.joinAddress()
	at, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	config, err := c.joining()
	if err != nil {
		return nil, err
	}
	config.ClientOnly = true
	id := "cli-" + strings.ToLower(rand.Text()[:8])
	node := sabir.NewNode(append([]sabir.NodeOption{sabir.NodeID(id), sabir.Logger(slog.New(slog.DiscardHandler)),
		sabir.Join(address, config)}, more...)...)
	startCtx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	if err := node.Start(startCtx); err != nil {
		return nil, c.notJoined(at, err)
	}
	return &clusterClient{node: node, address: at.Redacted()}, nil
}

// joinAddress is the address of the cluster; without a scheme it means TCP.
func (c *cli) joinAddress() string {
	address := firstOf(c.join, os.Getenv("SABIR_JOIN"))
	if !strings.Contains(address, "://") {
		address = "tcp://" + address
	}
	return address
}

// parseAddress reads an address, and reports what is wrong with it before anything is begun.
func parseAddress(address string) (*url.URL, error) {
	at, err := schemes.Parse(address)
	if err != nil {
		return nil, usagef("%v", err)
	}
	_, stream := transports.Stream(at.Scheme)
	if !stream && !isBroker(at) {
		return nil, usagef("links do not go over %s://: want one of %s; an HTTP address goes with --url", at.Scheme, strings.Join(transports.Schemes(), ", "))
	}
	switch at.Scheme {
	case "tcp", "tls", "quic", "kcp", "utp", "grpc", "grpc+tls", "grpc+tcp", "h2c": // whose addresses are a host and a port
		own := *at
		query := own.Query()
		query.Del("seeds")
		query.Del("plain")
		own.RawQuery = query.Encode()
		if _, err := (transport.Config{}).DialAddr(&own); err != nil && own.Port() != "0" { // beside seeds 0 will do
			return nil, usagef("%v", err)
		}
	}
	return at, nil
}

// isBroker reports whether nodes meet at a broker there, rather than link to each other.
func isBroker(at *url.URL) bool {
	_, bus := transports.Bus(at.Scheme)
	return bus
}

// withoutPassword is an address for users to see.
func withoutPassword(address string) string {
	at, err := url.Parse(address)
	if err != nil {
		return "an address" // that a password may stand in
	}
	return at.Redacted()
}

// joining returns how the flags have a node join its cluster.
func (c *cli) joining() (cluster.Config, error) {
	config := cluster.Config{Name: c.cluster, NodeKeyFile: firstOf(c.nodeKey, os.Getenv("SABIR_NODE_KEY_FILE"))}
	for i, key := range c.clusterKeys() {
		if i == 0 {
			config.Key = secret.New(key)
		} else {
			config.OldKeys = append(config.OldKeys, secret.New(key))
		}
	}
	if c.tlsCert != "" || c.tlsKey != "" || c.tlsCA != "" {
		certificates, err := tcp.Certificates(c.tlsCert, c.tlsKey, c.tlsCA)
		if err != nil {
			return cluster.Config{}, usagef("%v", err)
		}
		config.TLS = certificates
	}
	return config, nil
}

// Call implements target.
func (g *clusterClient) Call(ctx context.Context, action string, body []byte) ([]byte, error) {
	answer, err := sabir.CallJSON(ctx, g.node, action, body, g.options()...)
	return answer, g.fromCluster(err)
}

// options returns the options of each call.
func (g *clusterClient) options() []sabir.CallOption {
	if g.to == "" {
		return nil
	}
	return []sabir.CallOption{sabir.ToNode(g.to)}
}

// fromCluster leaves out of an error the name of the client-only node, which no user knows.
func (g *clusterClient) fromCluster(err error) error {
	e, ok := errors.AsType[*sabir.Error](err)
	if !ok || e.Node != g.node.ID() {
		return err
	}
	c := *e
	c.Node = ""
	return &c
}

// Name implements target.
func (g *clusterClient) Name() string { return g.address }

// leaveLimit is the time that the observer node waits for its links to close.
const leaveLimit = 2 * time.Second

// Close implements target.
func (g *clusterClient) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), leaveLimit)
	defer cancel()
	_ = g.node.Stop(ctx) // what was asked for is done
}

// advice is an error with what to do about it.
type advice struct {
	error
	do string
}

func (a advice) Unwrap() error { return a.error }

func joinFailed(text, do string) error {
	return sabir.Errorf(sabir.CodeUnavailable, errname.JoinFailed, "%w", advice{errors.New(text), do})
}

// notJoined describes why the cluster could not be joined, and what to do.
func (c *cli) notJoined(at *url.URL, err error) error {
	address := at.Redacted()
	if refused, ok := errors.AsType[*wire.HandshakeError](err); ok {
		switch refused.Reason {
		case wire.ReasonKey:
			return joinFailed("the cluster at "+address+" has another key than the one given", "give the cluster's key in the environment variable SABIR_KEY")
		case wire.ReasonKeyNeeded:
			if c.clusterKeys() != nil {
				return joinFailed("the cluster at "+address+" has no key, but one was given", "leave out --key, or unset SABIR_KEY")
			}
			return joinFailed("the cluster at "+address+" asks for a key", "give it in the environment variable SABIR_KEY")
		case wire.ReasonIdentity:
			return joinFailed("the cluster at "+address+" asks for a proof of this side's id: "+refused.Detail,
				"give the key of nodes called cli-*, whose public key is in their cluster.Config.NodeKeys, with --node-key-file or in SABIR_NODE_KEY_FILE")
		case wire.ReasonCluster:
			return joinFailed("the node at "+address+" is in another cluster: "+refused.Detail, "name its cluster with --cluster")
		case wire.ReasonNotSabir, wire.ReasonMalformed, wire.ReasonTimeout:
			return joinFailed("what listens at "+address+" does not speak Sabir's link protocol: "+string(refused.Reason),
				"the address of links is that of the node's Join; an HTTP address goes with --url; a tls:// one needs tls:// here too")
		}
	}
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT) || strings.Contains(err.Error(), "nobody listens") {
		if isBroker(at) {
			return joinFailed("no broker listens at "+address, "start the broker, or see that its address is this one")
		}
		return joinFailed("nobody listens at "+address, `start a cluster with "sabir demo --nodes 3", or give the address of a node that runs: all of a cluster's will do`)
	}
	if strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://") {
		return joinFailed("no node takes links at "+address+": "+sabir.AsError(err).Message, "the HTTP address of a node goes with --url")
	}
	if strings.Contains(err.Error(), "wrong key") { // in the words of nodes at a broker
		return joinFailed("the cluster at "+address+" has another key than the one given, or none", "give the cluster's key in the environment variable SABIR_KEY, or unset it")
	}
	e, ok := errors.AsType[*sabir.Error](err)
	if !ok {
		return err
	}
	if strings.HasPrefix(address, "tls://") {
		return joinFailed(e.Message, "see that the node joins by tls:// too, not tcp://, and that --tls-ca names the authority of its certificate")
	}
	own := *e
	own.Node = "" // the observer's, which no user knows
	return &own
}
