package channel

import (
	"cmp"
	"fmt"
	"maps"
	"path"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/engine"
	"github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/internal/vouch"
)

// PublishedBy names the nodes that may publish to the channel, by patterns of their proven names, as sabir.FromNodes does: names in the
// certificate of cluster.TLS, or without one the id with cluster.NodeKey. By default whoever may write to the channel at the broker may.
//
// Each message then has a signature of the node that published it, over the channel's name, the message's ID and its data. Consumers
// check it: a message without a good one, or of another node, does not reach the handler and becomes a dead letter, also after a
// replay. Publish fails with sabir.ErrCallerRefused on a node that is not named, and a consumer does not start where nothing proves
// names. Somebody with rights at the broker can still take messages out, and put in again, under another ID too, what was published before.
//
// Each message takes a signature (Ed25519, with node keys) and its check, and is some 260 bytes longer, with certificates by these.
func PublishedBy(patterns ...string) Option {
	apply := once("PublishedBy", option.Caller(), func(d *definition) { d.publishers = append([]string{}, patterns...) })
	return func(d *definition) {
		apply(d)
		for _, p := range patterns {
			if _, err := path.Match(p, ""); err != nil || p == "" {
				d.twice = cmp.Or(d.twice, fmt.Errorf("PublishedBy has the pattern %q, which takes no name", p))
			}
		}
		if len(patterns) == 0 {
			d.twice = cmp.Or(d.twice, fmt.Errorf("PublishedBy needs names"))
		}
	}
}

// prove adds to a message the proof that this node has published it, where the channel asks for that.
func (c *Channel[T]) prove(b *broker, m *engine.Outgoing) error {
	if c.publishers == nil {
		return nil
	}
	self := vouch.Of(b.node)
	proof := self.Publisher(c.publishers, c.spec.Name, m.ID, signed(&m.Message))
	if proof == "" {
		return b.failure(sabir.ErrCallerRefused, "node %s may not publish to channel %s: it does not prove a name that PublishedBy has, by cluster.NodeKey or the certificate of cluster.TLS",
			b.node.ID(), c.spec.Name)
	}
	m.Metadata = maps.Clone(m.Metadata)
	if m.Metadata == nil {
		m.Metadata = map[string]string{}
	}
	m.Metadata[vouch.PublisherKey] = proof
	return nil
}

// checkPublisher returns why a message may not be handled; nil where it may.
func (r *runner) checkPublisher(d *engine.Delivery) error {
	if r.publishers == nil || vouch.Of(r.node).PublishedBy(r.publishers, d.Metadata[vouch.PublisherKey], r.spec.Name, signed(&d.Message)) {
		return nil
	}
	return r.broker.failure(sabir.ErrCallerRefused, "no node that may publish to channel %s has signed the message", r.spec.Name)
}

// withoutProof is the metadata of a message for its handler.
func withoutProof(metadata map[string]string) map[string]string {
	if metadata[vouch.PublisherKey] == "" {
		return metadata
	}
	metadata = maps.Clone(metadata)
	delete(metadata, vouch.PublisherKey)
	return metadata
}
