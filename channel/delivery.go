package channel

import (
	"context"
	"errors"
	"time"

	"github.com/sabir-go/sabir"
)

// Delivery describes the message that a handler is handling.
type Delivery struct {
	Channel   string
	Group     string
	ID        string    // see Channel.PublishWithID; a replay has the ID of the message that failed
	Sequence  uint64    // its place in the channel; 0 where the broker has none
	Published time.Time // by the publisher's clock
	Attempt   int       // 1 for the first
	Attempts  int       // the last one's number
	// Dead describes how the message became a dead letter, for a consumer of dead letters; nil for others.
	Dead *DeadInfo
}

// DeadInfo describes how a message became a dead letter: where it was, which group failed to handle it, after how many
// attempts, and why.
type DeadInfo struct {
	ID       string    `json:"id,omitempty"`       // that the message had there; "" where it had none
	Channel  string    `json:"channel"`            // where it was published
	Group    string    `json:"group"`              // of the consumers that gave it up
	Sequence uint64    `json:"sequence,omitempty"` // its place in that channel; 0 where the broker has none
	Attempts int       `json:"attempts"`           // how often it was handed out
	Code     string    `json:"code"`               // of the last error, such as "Internal"
	Reason   string    `json:"reason"`             // the last error's text
	Time     time.Time `json:"time"`               // when it was dead-lettered
	Node     string    `json:"node,omitempty"`     // by which node
}

type deliveryKey struct{}

// DeliveryFromContext describes the message whose handler got ctx; false in other handlers.
func DeliveryFromContext(ctx context.Context) (Delivery, bool) {
	d, ok := ctx.Value(deliveryKey{}).(*Delivery)
	if !ok {
		return Delivery{}, false
	}
	return *d, true
}

// Reject is for a handler that knows that its message will never be handled: the message becomes a dead letter at
// once, with the error as the reason.
func Reject(err error) error {
	if err == nil {
		err = errors.New("the handler gave it up")
	}
	return &permanentError{err}
}

type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

// permanent reports whether trying again cannot help. An error whose own code panics is none of that kind.
func permanent(err error) (is bool) {
	defer func() {
		if recover() != nil {
			is = false
		}
	}()
	if _, ok := errors.AsType[*permanentError](err); ok {
		return true
	}
	e, ok := errors.AsType[*sabir.Error](err)
	return ok && (e.Code == sabir.CodeInvalidArgument || e.Code == sabir.CodeUnimplemented || e.Code == sabir.CodeDataLoss)
}
