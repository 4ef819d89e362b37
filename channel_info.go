package sabir

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/channel/engine"
)

// ChannelInfo describes a channel that a node uses, as $channels.list lists it.
type ChannelInfo struct {
	Name   string              `json:"name"`
	Broker string              `json:"broker"` // its address without a password
	Node   string              `json:"node"`   // which reports this
	Kept   uint64              `json:"kept"`   // messages, handled or not
	Bytes  uint64              `json:"bytes,omitempty"`
	Last   uint64              `json:"last,omitempty"` // the newest one's place
	Groups []engine.GroupStats `json:"groups,omitempty"`
	Dead   bool                `json:"dead,omitempty"` // it is a channel of dead letters: Kept counts those
}

// DeadLettersRequest is the input of $channels.letters, $channels.replay and $channels.delete.
type DeadLettersRequest struct {
	Channel string   `json:"channel" validate:"required"` // such as "shop.orders.dead"
	Keys    []string `json:"keys,omitempty"`
	All     bool     `json:"all,omitempty"`   // of replay and delete: all there are, instead of keys
	Limit   int      `json:"limit,omitempty"` // of $channels.letters; default: 100
}

// ChannelList lists the channels that the node has used since its start, with their counts at the broker.
func (n *Node) ChannelList(ctx context.Context) ([]ChannelInfo, error) {
	n.channels.mu.Lock()
	store := n.channels.store
	var specs []engine.Spec
	for _, spec := range n.channels.declared {
		if !strings.HasSuffix(spec.Name, begunSuffix) { // of no use to other packages
			specs = append(specs, spec)
		}
	}
	n.channels.mu.Unlock()
	if store == nil { // the node has stopped, or has used none yet
		return nil, nil
	}
	slices.SortFunc(specs, func(a, b engine.Spec) int { return strings.Compare(a.Name, b.Name) })
	var list []ChannelInfo
	for _, spec := range specs {
		stats, err := store.Stats(ctx, spec.Name)
		if err != nil {
			return nil, n.channelError("count channel "+spec.Name, err)
		}
		list = append(list, ChannelInfo{Name: spec.Name, Broker: redacted(n.channelsAddress()), Node: n.id, Kept: stats.Messages, Bytes: stats.Bytes,
			Last: stats.Last, Groups: stats.Groups, Dead: spec.Letters})
	}
	return list, nil
}

func redacted(address string) string {
	at, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return at.Redacted()
}

// withChannels adds the service that describes channels, to a node that has a broker for them.
func (n *Node) withChannels(list []*Service) []*Service {
	if n.channelsAddress() == "" {
		return list
	}
	s := NewService("$channels", Doc("describes durable channels and their dead letters"))
	Handle(s, "list", func(ctx context.Context, _ Empty) ([]ChannelInfo, error) { return n.ChannelList(ctx) },
		Doc("lists the channels that the node uses"))
	Handle(s, "letters", func(ctx context.Context, in DeadLettersRequest) ([]DeadLetter, error) {
		if in.Limit == 0 {
			in.Limit = 100
		}
		return DeadLetters(ctx, n, in.Channel, in.Limit)
	}, Doc("lists dead letters"))
	Handle(s, "replay", func(ctx context.Context, in DeadLettersRequest) (int, error) {
		if err := in.check(); err != nil {
			return 0, err
		}
		return Replay(ctx, n, in.Channel, in.Keys...)
	}, Doc("publishes dead letters again"))
	Handle(s, "delete", func(ctx context.Context, in DeadLettersRequest) (int, error) {
		if err := in.check(); err != nil {
			return 0, err
		}
		if in.All {
			letters, err := DeadLetters(ctx, n, in.Channel, maxDeadMessages)
			if err != nil {
				return 0, err
			}
			for _, l := range letters {
				in.Keys = append(in.Keys, l.Key)
			}
		}
		return DeleteDeadLetters(ctx, n, in.Channel, in.Keys...)
	}, Doc("deletes dead letters"))
	return append(list, s)
}

func (r DeadLettersRequest) check() error {
	if r.All != (len(r.Keys) == 0) {
		return Errorf(CodeInvalidArgument, nameBadChannel, "say which letters of %s: their keys, or all", r.Channel)
	}
	return nil
}
