package channels

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sabir-go/sabir/broker/nats/internal/natsstore"
	"github.com/sabir-go/sabir/internal/engine"
)

// retryable are the errors after which the same may work a little later.
var retryable = []error{
	nats.ErrConnectionClosed, nats.ErrDisconnected, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrNoServers, nats.ErrConnectionReconnecting,
	nats.ErrReconnectBufExceeded, nats.ErrStaleConnection, nats.ErrConnectionDraining, context.DeadlineExceeded, context.Canceled,
	jetstream.ErrNoStreamResponse, jetstream.ErrAsyncPublishTimeout, jetstream.ErrNoHeartbeat, jetstream.ErrServerShutdown,
	jetstream.ErrConnectionClosed, jetstream.ErrTooManyStalledMsgs, jetstream.ErrConsumerLeadershipChanged,
}

// failure makes the channel's error of the client's.
func failure(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, nats.ErrMaxPayload) {
		return fmt.Errorf("%w: %w", engine.ErrTooLarge, err)
	}
	for _, known := range retryable {
		if errors.Is(err, known) {
			return fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
		}
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		switch {
		case natsstore.TooLarge(api):
			return fmt.Errorf("%w: %w", engine.ErrTooLarge, err)
		case natsstore.Full(api):
			return fmt.Errorf("%w: %w", engine.ErrFull, err)
		case natsstore.NotReady(api):
			return fmt.Errorf("%w: %w", engine.ErrNotReady, err)
		case api.Code == 503:
			return fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
		}
	}
	return err
}
