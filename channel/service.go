package channel

import (
	"context"

	"github.com/sabir-go/sabir"
)

// DeadLettersRequest is the input of $channels.dead, $channels.replay and $channels.delete.
type DeadLettersRequest struct {
	Channel string   `json:"channel" validate:"required"` // such as "shop.orders.dead"
	Keys    []string `json:"keys,omitempty"`
	All     bool     `json:"all,omitempty"`   // of replay and delete: all there are, instead of keys
	Limit   int      `json:"limit,omitempty"` // of $channels.dead; default: 100
}

func (r DeadLettersRequest) check() error {
	if r.All != (len(r.Keys) == 0) {
		return failure(errBadChannel, "say which dead letters of %s: their keys, or all", r.Channel)
	}
	return nil
}

// Services offers the service that describes channels, on a node that has a broker for them. Its start connects to the broker:
// the node has joined its cluster by then, and its own services have not started.
func (b *broker) Services() []sabir.Servable {
	b.mu.Lock()
	b.begun = true
	b.mu.Unlock()
	if b.address() == "" {
		return nil
	}
	n := b.node
	s := sabir.NewService("$channels", sabir.Doc("describes durable channels and their dead letters"), sabir.OnStart(b.connect))
	sabir.Handle(s, "list", func(ctx context.Context, _ sabir.Empty) ([]Info, error) { return b.list(ctx) },
		sabir.Doc("lists the channels that the node uses"))
	sabir.Handle(s, "dead", func(ctx context.Context, in DeadLettersRequest) ([]DeadLetter, error) {
		if in.Limit == 0 {
			in.Limit = 100
		}
		return DeadLetters(ctx, n, in.Channel, in.Limit)
	}, sabir.Doc("lists dead letters"))
	sabir.Handle(s, "replay", func(ctx context.Context, in DeadLettersRequest) (int, error) {
		if err := in.check(); err != nil {
			return 0, err
		}
		return Replay(ctx, n, in.Channel, in.Keys...)
	}, sabir.Doc("publishes dead letters again"))
	sabir.Handle(s, "delete", func(ctx context.Context, in DeadLettersRequest) (int, error) {
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
			return b.removeDeadMessages(ctx, in.Channel, in.Keys...) // what others take out meanwhile is gone too
		}
		return DeleteDeadLetters(ctx, n, in.Channel, in.Keys...)
	}, sabir.Doc("deletes dead letters"))
	return []sabir.Servable{s}
}
