// Package joining holds what the options of sabir.Join set: package cluster and others write it, package mesh reads it.
package joining

import (
	"context"
	"crypto/tls"
	"log/slog"
	"time"

	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/internal/outlier"
	"github.com/sabir-go/sabir/internal/seal"
	"github.com/sabir-go/sabir/secret"
)

// Config holds the settings that the options of one Join make.
type Config struct {
	Cluster       string // its name
	Keys          seal.Keys
	Plain         bool // by the address
	NodeKey       identity.Key
	NodeKeys      identity.Known // nil for no proofs
	TLS           *tls.Config
	Vouchers      []string            // patterns of nodes that may say for whom a call is; nil for the default
	OfferedBy     map[string][]string // patterns of nodes by patterns of services
	Seeds         []string
	Members       []string
	Directory     Directory // nil for none
	Advertise     string
	PacketSize    int
	Zone          string
	Labels        map[string]string
	Connections   int // to each other node
	CallersRead   bool
	FullMesh      int           // up to how many nodes each has a link to each other; 0 for the default
	IdleTime      time.Duration // for which a link is kept that is needed no more; 0 for the default. No option sets it: it is for simulations
	ClientOnly    bool
	Compression   string // name of a method; "" for none
	CompressAbove int
	Limits        Limits
	Codecs        []string
	Outlier       outlier.Settings

	NodeOptions []any // options of the node that come with those of Join, such as a bridge's

	At       option.Site // of Join
	Problems []error     // of the options
	given    option.Given
}

// Directory keeps the addresses of nodes, so that they find each other, such as etcd.
type Directory interface {
	// Run enters a node, keeps it entered, and calls found with the addresses of all nodes that are entered under the cluster's name: as soon as it knows
	// them, and after each change. When ctx ends, it takes the entry back and returns. While the directory cannot be reached it tries again, and says so in the
	// log of the entry once; the nodes then go on with what they know. It calls found from one goroutine at a time.
	Run(ctx context.Context, entry Entry, found func(addresses []string))
}

// Entry names a node and its address, which a [Directory] tells the others.
type Entry struct {
	Cluster string // the cluster's name
	Node    string // the node's id
	Address string // where the node is dialled, such as tcp://10.0.0.5:7700; "" for a node that is not entered and only looks
	Log     *slog.Logger
}

// ProvesNames reports whether links prove the names of nodes, by certificates or node keys.
func (c *Config) ProvesNames() bool { return c.TLS != nil || c.NodeKeys != nil }

// BrokerSecret is the secret for brokers that the program starts itself; none without a cluster key. It derives from the first key, and
// is of no use for anything else.
func (c *Config) BrokerSecret() secret.Secret {
	if c.Keys.None() {
		return secret.Secret{}
	}
	return secret.New(c.Keys.Derive("sabir broker 1")[0])
}

// Limits bounds what other nodes can make this one hold. 0 stands for the default.
type Limits struct {
	Message, Calls, Streams, Window, Node int
}

// Once notes an option that can be given once. A second one is a problem.
func (c *Config) Once(name string, at option.Site) {
	if err := c.given.Again(name, at); err != nil {
		c.Problems = append(c.Problems, err)
	}
}
