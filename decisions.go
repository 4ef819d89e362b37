package sabir

import (
	"context"
	"fmt"
	"time"

	"github.com/sabir-go/sabir/internal/membership"
)

// What operators decide for the whole cluster goes from node to node with the catalogs, and each node keeps all of it.

// settle makes a decision that all nodes learn of.
func (n *Node) settle(d membership.Decision) error {
	n.deciding.Lock()
	old := n.decisions.Load()
	d.By, d.Version = n.id, old.Next(time.Now())
	err := d.Check()
	next := old
	if err == nil {
		if next, _ = old.With(time.Now(), d); !next.Has(d) {
			err = fmt.Errorf("there are %d decisions about nodes and routes already, which is the limit: end some", membership.MaxDecisions)
		}
	}
	if err == nil {
		n.decisions.Store(next)
	}
	n.deciding.Unlock()
	if err != nil {
		return Errorf(CodeInvalidArgument, nameBadOption, "%w", err)
	}
	n.logDecisions(old, next)
	n.tableLock.Lock()
	n.rebuildTables()
	n.tableLock.Unlock()
	if m := n.cluster(); m != nil { // the others know it then: this node may be stopped at once
		ctx, cancel := context.WithTimeout(background, settleLimit)
		m.Unconfirmed(ctx)
		cancel()
	}
	return nil
}

// settleLimit bounds the wait for nodes that are slow to confirm a decision.
const settleLimit = 2 * time.Second

// learn takes over what the nodes in the view know of decisions.
func (n *Node) learn(view *membership.View) {
	n.deciding.Lock()
	old := n.decisions.Load()
	next, changed := old, false
	for _, node := range view.Nodes() {
		more := false
		next, more = next.With(time.Now(), view.Catalog(node).Decisions...)
		changed = changed || more
	}
	n.decisions.Store(next)
	n.deciding.Unlock()
	if changed {
		n.logDecisions(old, next)
		n.announce()
	}
}

func (n *Node) logDecisions(old, next *membership.Decisions) {
	// One call of the log for each kind of decision: a call takes 300 bytes of every program.
	was, is, text := old.Drained(n.id), next.Drained(n.id), "node is drained: calls go to other nodes"
	if !is {
		text = "node is not drained any more"
	}
	if was != is {
		n.log.Info(text, "node", n.id)
	}
	for _, d := range next.All() {
		text = "calls are shared out"
		if d.Ended {
			text = "calls are not shared out any more"
		}
		if d.Route != "" && !old.Has(d) && (!d.Ended || old.Routed(d.Route)) { // else it ended before this node knew of it
			n.log.Info(text, "node", n.id, "action", d.Route, "shares", d.Shares, "by", d.By)
		}
	}
}
