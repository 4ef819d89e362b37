// Package joining holds what the options of sabir.Join set: package cluster and others write it, package mesh reads it.
package joining

import (
	"crypto/tls"

	"github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/internal/outlier"
	"github.com/sabir-go/sabir/internal/seal"
)

// Config holds the settings that the options of one Join make.
type Config struct {
	Cluster       string // its name
	Keys          seal.Keys
	Plain         bool // by the address
	TLS           *tls.Config
	Vouchers      []string // patterns of nodes that may say for whom a call is; nil for the default
	Seeds         []string
	Members       []string
	Advertise     string
	PacketSize    int
	Zone          string
	Labels        map[string]string
	Connections   int // to each other node
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
