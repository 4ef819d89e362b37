package amqp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/sabir-go/sabir/channel/engine"
	"github.com/sabir-go/sabir/internal/amqp"
	"github.com/sabir-go/sabir/internal/backoff"
)

const (
	answerLimit = 5 * time.Second  // for one answer of the server
	heartbeat   = 10 * time.Second // silence of two of them ends the connection
)

// session is one connection, from its beginning to its end.
type session struct {
	conn    *amqp.Connection
	gone    chan struct{} // closed when the connection is
	blocked atomic.Bool   // the server takes no messages for want of memory or disk

	mu         sync.Mutex
	publishing *amqp091.Channel // in confirm mode; nil until it is used
}

func dial(ctx context.Context, address *amqp.Address, name string) (*session, error) {
	conn, err := address.Dial(ctx, amqp091.Config{Heartbeat: heartbeat, Properties: amqp091.Table{"connection_name": "sabir channels of " + name}})
	if err != nil {
		return nil, failure(err)
	}
	s := &session{conn: conn, gone: make(chan struct{})}
	blocked := conn.NotifyBlocked(make(chan amqp091.Blocking, 8))
	closed := conn.NotifyClose(make(chan *amqp091.Error, 1))
	go func() {
		for b := range blocked {
			s.blocked.Store(b.Active)
		}
	}()
	go func() {
		<-closed
		close(s.gone)
	}()
	return s, nil
}

func (s *session) alive() bool {
	select {
	case <-s.gone:
		return false
	default:
		return true
	}
}

// publisher is the channel for publishing. One that the server closed is replaced.
func (s *session) publisher() (*amqp091.Channel, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.publishing != nil && !s.publishing.IsClosed() {
		return s.publishing, nil
	}
	ch, err := s.conn.Channel()
	if err == nil {
		err = ch.Confirm(false)
	}
	if err != nil {
		return nil, failure(err)
	}
	s.publishing = ch
	return ch, nil
}

// withChannel runs do with a channel of its own: the server closes a channel on which something failed.
func (s *session) withChannel(do func(*amqp091.Channel) error) error {
	ch, err := s.conn.Channel()
	if err != nil {
		return failure(err)
	}
	err = do(ch)
	if !ch.IsClosed() {
		_ = ch.Close() // what matters was answered
	}
	return failure(err)
}

// exists reports whether there is a queue of that name, and how many messages it has ready.
func (s *session) exists(queue string) (ready int, ok bool, err error) {
	err = s.withChannel(func(ch *amqp091.Channel) error {
		q, err := ch.QueueDeclarePassive(queue, true, false, false, false, nil)
		ready = q.Messages
		return err
	})
	if said, is := errors.AsType[*amqp091.Error](err); is && said.Code == amqp091.NotFound {
		return 0, false, nil
	}
	return ready, err == nil, err
}

// persistDelay is the time that RabbitMQ (3.10) may take to persist the declaration of a stream or a quorum queue. A server
// that is killed earlier loses the queue with all its messages, so nothing is published to a new queue before that.
const persistDelay = time.Second

// createQueue declares a stream or a quorum queue. Where it is new, createQueue returns when the server will not forget it.
func (s *session) createQueue(ctx context.Context, queue string, arguments amqp091.Table) error {
	_, there, err := s.exists(queue)
	if err == nil {
		err = s.withChannel(func(ch *amqp091.Channel) error {
			_, err := ch.QueueDeclare(queue, true, false, false, false, arguments)
			return err
		})
	}
	if err != nil || there {
		return err
	}
	return wait(ctx, persistDelay)
}

// publishConfirmed publishes messages and waits until the server has each. errs has as many errors as there are messages.
func (s *session) publishConfirmed(ctx context.Context, exchange, key string, list []amqp091.Publishing, errs []error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	fail := func(err error) {
		for i := range errs {
			errs[i] = err
		}
	}
	if s.blocked.Load() {
		fail(fmt.Errorf("%w: it is short of memory or disk", engine.ErrFull))
		return
	}
	ch, err := s.publisher()
	if err != nil {
		fail(err)
		return
	}
	confirms := make([]*amqp091.DeferredConfirmation, len(list))
	for i, p := range list {
		confirms[i], errs[i] = ch.PublishWithDeferredConfirm(exchange, key, false, false, p)
	}
	for i, c := range confirms {
		if errs[i] != nil {
			errs[i] = failure(errs[i])
			continue
		}
		acked, err := c.WaitContext(ctx)
		switch {
		case err != nil:
			errs[i] = fmt.Errorf("%w: it did not answer: %w", engine.ErrUnreachable, err)
		case !acked && ch.IsClosed():
			errs[i] = fmt.Errorf("%w: the connection broke before it answered", engine.ErrUnreachable)
		case !acked:
			errs[i] = fmt.Errorf("%w: it refused the message", engine.ErrFull)
		}
	}
}

// reconnect connects again for as long as the store is open.
func (s *store) reconnect() {
	defer close(s.reconnectEnded)
	for {
		current := s.current.Load()
		select {
		case <-current.gone:
		case <-s.ended.Done():
			return
		}
		s.log.Warn("channels: connection to the broker lost", "broker", s.address.Name)
		next, err := backoff.Until(s.ended, backoff.Reconnect, func() (*session, error) { return dial(s.ended, s.address, s.name) })
		if err != nil {
			return // the store was closed
		}
		s.current.Store(next)
		s.log.Info("channels: connection to the broker is back", "broker", s.address.Name)
	}
}

// session is the connection, where there is one now.
func (s *store) session() (*session, error) {
	if s.ended.Err() != nil {
		return nil, engine.ErrClosed
	}
	current := s.current.Load()
	if !current.alive() {
		return nil, fmt.Errorf("%w: no connection to %s", engine.ErrUnreachable, s.address.Name)
	}
	return current, nil
}

// failure makes the channel's error of the client's.
func failure(err error) error {
	if err == nil || errors.Is(err, engine.ErrUnreachable) || errors.Is(err, engine.ErrNotOffered) || errors.Is(err, engine.ErrClosed) {
		return err
	}
	said, ok := errors.AsType[*amqp091.Error](err)
	if !ok || errors.Is(err, amqp091.ErrClosed) {
		return fmt.Errorf("%w: %w", engine.ErrUnreachable, err) // the network's
	}
	switch said.Code {
	case amqp091.ConnectionForced, amqp091.InternalError, amqp091.ResourceError, amqp091.FrameError, amqp091.UnexpectedFrame, amqp091.ChannelError:
		return fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
	}
	return err
}
