package channel

import (
	"github.com/sabir-go/sabir/internal/engine"
	"github.com/sabir-go/sabir/internal/vouch"
)

// believe leaves out the principal of a message that no node which may vouch has published, see cluster.Config.Vouchers: whoever has rights on the
// broker can write messages. It must see a message before its handler, and before what publishes it again, which is vouched for by this node.
func (b *broker) believe(channel string, m *engine.Message) {
	var ok bool
	if m.Metadata, ok = vouch.Of(b.node).Check(m.Metadata, []byte(channel), []byte(m.ID), signed(m)); ok {
		return
	}
	b.unvouched.Do(func() {
		b.node.Log().Warn("a message says for whom it was published, and no node that vouches here has proven it: it counts as nobody's",
			"node", b.node.ID(), "channel", channel, "message", m.ID)
	})
}
