package states

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/broker/nats/internal/natsstore"
	"github.com/sabir-go/sabir/internal/grainstore"
)

// unsent is the errors of what has not left this process, or found no server. ErrConnectionClosed is not among them: what
// waits for an answer gets it too.
var unsent = []error{nats.ErrNoResponders, jetstream.ErrNoStreamResponse, nats.ErrReconnectBufExceeded}

// failure makes the store's error of the client's.
func failure(err error) error {
	if err == nil {
		return nil
	}
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		return refusal(api, err)
	}
	for _, known := range unsent {
		if errors.Is(err, known) {
			return fmt.Errorf("%w: %w", store.ErrStoreUnreachable, err)
		}
	}
	return fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, err)
}

// refusal wraps an error of the server.
func refusal(api *jetstream.APIError, err error) error {
	switch {
	case api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence, api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant:
		return fmt.Errorf("%w: %w", store.ErrFenced, err)
	case api.ErrorCode == jetstream.JSErrCodeStreamNotFound: // see remake
		return fmt.Errorf("%w: %w", store.ErrStoreUnreachable, err)
	case natsstore.TooLarge(api):
		return fmt.Errorf("%w: %w", grainstore.ErrStateTooLarge, err)
	case natsstore.Full(api):
		return fmt.Errorf("%w: %w", store.ErrStoreFull, err)
	}
	if api.Code == 503 { // a leader that steps down reports it too, of what it may have proposed; and a disk that failed halfway
		return fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, err)
	}
	return fmt.Errorf("JetStream refused it: %w", err)
}
