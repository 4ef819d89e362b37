package channels

import (
	"errors"
	"sync/atomic"

	"github.com/nats-io/nats.go/jetstream"
)

// request is one request for messages that stands with the server, until as many have come as were wanted, or it is ended. What was on its way when
// it ends comes still: a message that the client threw away would be handed out again after AckWait only.
type request struct {
	messages  chan jetstream.Msg // closed when no more come
	from      jetstream.MessagesContext
	connected func() bool
	err       atomic.Pointer[error]
}

func newRequest(consumer jetstream.Consumer, wanted int, connected func() bool) (*request, error) {
	from, err := consumer.Messages(jetstream.PullMaxMessages(wanted), jetstream.StopAfter(wanted), jetstream.PullExpiry(pullFor), jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		return nil, err
	}
	r := &request{messages: make(chan jetstream.Msg, wanted), from: from, connected: connected}
	go r.read()
	return r, nil
}

func (r *request) read() {
	defer close(r.messages)
	for {
		msg, err := r.from.Next()
		switch {
		case err == nil:
			r.messages <- msg // there is room for all that were wanted
		case errors.Is(err, jetstream.ErrMsgIteratorClosed):
			return
		default:
			r.err.CompareAndSwap(nil, &err)
			r.end()
		}
	}
}

// end lets what is on its way come, and has the server send no more. Over a connection that is lost nothing comes.
func (r *request) end() {
	if r.connected() {
		r.from.Drain()
	} else {
		r.from.Stop()
	}
}

// failure is why it ended by itself, once its messages are closed; nil for no fault.
func (r *request) failure() error {
	if err := r.err.Load(); err != nil {
		return *err
	}
	return nil
}
