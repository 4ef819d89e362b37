package mesh

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/joining"
)

const (
	// maxInDirectory bounds the addresses of a directory that are used.
	maxInDirectory = 4096
	// directoryTimeout is how long a node that starts waits for what the directory knows, and for a link to each node there.
	directoryTimeout = 3 * time.Second
)

// directoryName stands for the directory among the names of Static that have turned out to stand for addresses.
const directoryName = "directory"

// enterDirectory enters the node in its directory and waits, not for long, until it is linked to the nodes that are there. What the directory knows later is dialled
// as it comes.
func (m *Mesh) enterDirectory(ctx context.Context) {
	entry := joining.Entry{Cluster: m.config.Cluster, Node: m.config.Node, Address: m.OwnAddress(), Log: m.log}
	first := make(chan struct{})
	var once sync.Once
	m.running.Go(func() {
		m.config.Directory.Run(m.ctx, entry, func(addresses []string) {
			m.static.Resolved(directoryName, m.dialable(addresses))
			once.Do(func() { close(first) })
		})
	})
	ctx, cancel := context.WithTimeout(ctx, directoryTimeout)
	defer cancel()
	select {
	case <-first:
	case <-ctx.Done():
		m.log.Warn("the directory has not answered yet: the node starts without the others", "node", m.config.Node)
		return
	}
	for m.static.Unidentified() && ctx.Err() == nil {
		sleep(ctx, 5*time.Millisecond)
	}
}

// dialable lists the addresses of other nodes among those of a directory, whatever else somebody has entered.
func (m *Mesh) dialable(addresses []string) []string {
	addresses = slices.DeleteFunc(slices.Clone(addresses), func(address string) bool {
		bad := identity.CheckURL(address)
		if bad != nil {
			m.log.Debug("an address in the directory is none", "node", m.config.Node, "error", bad)
		}
		return bad != nil || address == m.OwnAddress()
	})
	return addresses[:min(len(addresses), maxInDirectory)]
}
