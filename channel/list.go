package channel

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/engine"
)

// Info describes a channel that a node uses, as $channels.list lists it.
type Info struct {
	Name   string       `json:"name"`
	Broker string       `json:"broker"` // its address without a password
	Node   string       `json:"node"`   // which reports this
	Kept   uint64       `json:"kept"`   // messages, handled or not
	Bytes  uint64       `json:"bytes,omitempty"`
	Last   uint64       `json:"last,omitempty"` // the newest one's place
	Groups []GroupStats `json:"groups,omitempty"`
	Dead   bool         `json:"dead,omitempty"` // it is a channel of dead letters: Kept counts those
}

// GroupStats counts the messages that a group of consumers has before it.
type GroupStats struct {
	Name     string `json:"name"`
	Waiting  uint64 `json:"waiting"`   // not handed out yet
	InFlight uint64 `json:"in_flight"` // handed out and neither handled nor back
	Delayed  uint64 `json:"delayed"`   // waiting to be tried again; part of InFlight where not known
	Retried  uint64 `json:"retried"`   // of those in flight and delayed, how many were handed out before; 0 where unknown
}

// List lists the channels that the node has used since its start, with their counts at the broker; none where the node does
// not run.
func List(ctx context.Context, from sabir.Caller) ([]Info, error) {
	n, err := sabir.NodeOf(from, "its channels")
	if err != nil {
		return nil, err
	}
	b, ok := brokers.Load(n)
	if !ok {
		return nil, nil
	}
	return b.(*broker).list(ctx)
}

func (b *broker) list(ctx context.Context) ([]Info, error) {
	b.mu.Lock()
	store := b.store
	var specs []engine.Spec
	for _, spec := range b.declared {
		if !strings.HasSuffix(spec.Name, begunSuffix) { // of no use to other packages
			specs = append(specs, spec)
		}
	}
	b.mu.Unlock()
	if store == nil { // the node has stopped, or has used none yet
		return nil, nil
	}
	slices.SortFunc(specs, func(a, b engine.Spec) int { return strings.Compare(a.Name, b.Name) })
	var list []Info
	for _, spec := range specs {
		stats, err := store.Stats(ctx, spec.Name)
		if err != nil {
			return nil, b.callerError("count channel "+spec.Name, err)
		}
		var groups []GroupStats
		for _, g := range stats.Groups {
			groups = append(groups, GroupStats(g))
		}
		list = append(list, Info{Name: spec.Name, Broker: redacted(b.address()), Node: b.node.ID(), Kept: stats.Messages,
			Bytes: stats.Bytes, Last: stats.Last, Groups: groups, Dead: spec.DeadLetters})
	}
	return list, nil
}

func redacted(address string) string {
	at, err := url.Parse(address)
	switch {
	case err != nil:
		return ""
	case at.User == nil: // as it was given: package url writes "mem:" for "mem://"
		return address
	}
	return at.Redacted()
}
