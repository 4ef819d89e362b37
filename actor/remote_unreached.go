package actor

import (
	"cmp"
	"fmt"
	"sync"
)

// unreached has, by name, why the processes of a linked node are not reached, for the errors of those who try. Its lock comes after all others.
type unreached struct {
	mu  sync.Mutex
	why map[string]string
}

const (
	// whySilent is true at first of each node, for a moment.
	whySilent = "it is linked, and its processes have not answered yet: it runs none (no actor.System is among its options), its Config.Nodes does not take this node, " +
		"or it runs an older release that does not say which protocol of processes it speaks"
	whyNotAllowed = "Config.Nodes of this node's processes does not take it"
	whyUnlinked   = "there is no link to such a node"
)

func whyVersion(theirs uint64) string {
	return fmt.Sprintf("it speaks version %d of the protocol of processes and this node version %d: run the same minor version of Sabir on both; until then call actions of the node, which are not affected",
		theirs, protocolVersion)
}

func (u *unreached) set(node, why string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.why == nil {
		u.why = map[string]string{}
	}
	u.why[node] = why
}

// clear is for a node that is reached, or not linked any more.
func (u *unreached) clear(node string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.why, node)
}

func (u *unreached) of(node string) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return cmp.Or(u.why[node], whyUnlinked)
}

// noConnection is the error for processes of a node that cannot be reached, with the reason.
func (n *network) noConnection(node string) error {
	return problem(ErrNoConnection, n.system.nodeName(), "%s: %s", node, n.unreached.of(node))
}
