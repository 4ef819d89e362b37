package channel

import (
	"maps"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/engine"
	"github.com/sabir-go/sabir/internal/vouch"
)

// prove adds to a message the proof that this node has published it, where the channel asks for that.
func (c *Channel[T]) prove(b *broker, m *engine.Outgoing) error {
	if c.publishers == nil {
		return nil
	}
	self := vouch.Of(b.node)
	proof := self.Publisher(c.publishers, c.spec.Name, m.ID, signed(&m.Message))
	if proof == "" {
		return b.failure(sabir.ErrCallerRefused, "node %s may not publish to channel %s: it does not prove a name that PublishedBy has, by cluster.Config.NodeKey or the certificate of cluster.Config.TLS",
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
