package jetstream

import (
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sabir-go/sabir/actor/grain/store"
)

// Codes of the server's errors (nats-server, server/errors.json) that the client has no names for.
const (
	codeInsufficientResources = 10023
	codeStorageExceeded       = 10047
	codeMessageTooLarge       = 10054
	codeStoreFailed           = 10077
)

// errNoLink is when there is no connection to send anything on.
var errNoLink = fmt.Errorf("%w: the connection is lost, and being made again", store.ErrAway)

// unsent is the errors of what has not left this process, or found nobody there. ErrConnectionClosed is not among them: what
// waits for an answer is told so too.
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
			return fmt.Errorf("%w: %w", store.ErrAway, err)
		}
	}
	return fmt.Errorf("%w: %w", store.ErrUnknown, err)
}

// refusal is of what the server said.
func refusal(api *jetstream.APIError, err error) error {
	switch api.ErrorCode {
	case jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant:
		return fmt.Errorf("%w: %w", store.ErrFenced, err)
	case codeMessageTooLarge:
		return fmt.Errorf("%w: %w", store.ErrTooLarge, err)
	case codeInsufficientResources, codeStorageExceeded:
		return fmt.Errorf("%w: %w", store.ErrFull, err)
	case codeStoreFailed: // the disk's fault, perhaps halfway
		return fmt.Errorf("%w: %w", store.ErrUnknown, err)
	}
	if api.Code == 503 { // a leader that steps down says so too, of what it may have proposed
		return fmt.Errorf("%w: %w", store.ErrUnknown, err)
	}
	return fmt.Errorf("JetStream refused it: %w", err)
}
