package channels

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/sabir-go/sabir/internal/amqp"
	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/internal/engine"
)

const (
	answerLimit = 5 * time.Second  // for one answer of the server
	heartbeat   = 10 * time.Second // silence of two of them ends the connection
)

// session is the connections to the server, from their beginning to their end. What is published has a connection of its own: where
// the server has an alarm, for its memory or its disk, it reads nothing more of a connection that publishes. So consumers and
// declarations are on one that never does.
type session struct {
	conn       *amqp.Connection
	publishing *publisher
	gone       chan struct{} // closed when one of the connections is
}

func dial(ctx context.Context, address *amqp.Address, name string) (*session, error) {
	conn, err := connect(ctx, address, "sabir channels of "+name)
	if err != nil {
		return nil, err
	}
	publishing, err := connect(ctx, address, "sabir channels of "+name+", publishing")
	if err != nil {
		conn.Socket.Close()
		return nil, err
	}
	s := &session{conn: conn, gone: make(chan struct{})}
	s.publishing = newPublisher(publishing, s.gone)
	closed := conn.NotifyClose(make(chan *amqp091.Error, 1))
	closedToo := publishing.NotifyClose(make(chan *amqp091.Error, 1))
	go func() {
		select {
		case <-closed:
		case <-closedToo:
		}
		conn.Socket.Close()
		publishing.Socket.Close()
		close(s.gone)
	}()
	return s, nil
}

func connect(ctx context.Context, address *amqp.Address, name string) (*amqp.Connection, error) {
	conn, err := address.Dial(ctx, amqp091.Config{Heartbeat: heartbeat, Properties: amqp091.Table{"connection_name": name}})
	return conn, failure(err)
}

func (s *session) alive() bool {
	select {
	case <-s.gone:
		return false
	default:
		return true
	}
}

// close ends the connections. A broker that cannot be reached, or reads nothing, is waited for no longer than a second.
func (s *session) close() {
	limit := time.Now().Add(time.Second)
	_ = s.publishing.conn.CloseDeadline(limit)
	_ = s.conn.CloseDeadline(limit)
	<-s.gone
	<-s.publishing.ended
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
	if notFound(err) {
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
		err = s.declare(queue, arguments)
	}
	if err != nil || there {
		return err
	}
	return wait(ctx, persistDelay)
}

func (s *session) declare(queue string, arguments amqp091.Table) error {
	return s.withChannel(func(ch *amqp091.Channel) error {
		_, err := ch.QueueDeclare(queue, true, false, false, false, arguments)
		return err
	})
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
		s.failed.Clear()
		s.log.Warn("channels: connection to the broker lost", "broker", s.address.Name)
		outage := backoff.NewOutage()
		next, err := backoff.Until(s.ended, backoff.Reconnect, func() (*session, error) {
			next, err := s.dialAgain()
			if err != nil {
				s.failed.Set(err)
				if outage.Due(time.Now()) {
					s.log.Warn("channels: cannot connect to the broker; trying again", "broker", s.address.Name, "error", err)
				}
			}
			return next, err
		})
		if err != nil {
			return // the store was closed
		}
		s.current.Store(next)
		s.log.Info("channels: connection to the broker is back", "broker", s.address.Name)
	}
}

// dialAgain connects, and makes what a server has lost that starts without its files before anybody publishes there.
func (s *store) dialAgain() (*session, error) {
	session, err := dial(s.ended, s.address, s.name)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	specs, groups := maps.Clone(s.specs), slices.Clone(s.groups)
	s.mu.Unlock()
	queues := make(map[string]string) // of the channel
	for name, spec := range specs {
		queues[s.queueOf(spec)] = name
	}
	for _, g := range groups {
		g.doubtWaits()
		queues[g.queue] = g.spec.Channel
	}
	restored := make(map[string]bool)
	for queue, name := range queues {
		if restored[name] {
			continue
		}
		_, there, err := session.exists(queue)
		if err == nil && !there {
			restored[name] = true
			err = s.restore(s.ended, session, name)
		}
		if notUsable(err) {
			continue // it is there, and others can be used meanwhile
		}
		if errors.Is(err, engine.ErrUnreachable) {
			session.close()
			return nil, err
		}
		if err != nil {
			s.log.Warn("channels: the broker has lost this channel, which cannot be made anew", "channel", name, "broker", s.address.Name, "error", err)
		}
	}
	return session, nil
}

// restore makes a channel that was declared anew, and its groups that are here.
func (s *store) restore(ctx context.Context, session *session, name string) error {
	spec, err := s.spec(name)
	if err == nil {
		err = s.declare(ctx, session, spec)
	}
	s.mu.Lock()
	groups := slices.Clone(s.groups)
	s.mu.Unlock()
	for _, g := range groups {
		if err == nil && g.spec.Channel == name {
			err = g.make(ctx, session)
		}
	}
	if err == nil {
		s.log.Warn("channels: the broker has lost this channel and what it kept; it was made anew", "channel", name, "broker", s.address.Name)
	}
	return err
}

// notFound reports whether the server has answered that something is not there.
func notFound(err error) bool {
	said, ok := errors.AsType[*amqp091.Error](err)
	return ok && said.Code == amqp091.NotFound && strings.HasPrefix(said.Reason, "NOT_FOUND - no ")
}

// notUsable reports whether the server has answered that something is there and cannot be used now, as its node is down or still starts.
// That has the code of what is not there.
func notUsable(err error) bool {
	said, ok := errors.AsType[*amqp091.Error](err)
	return ok && said.Code == amqp091.NotFound && !notFound(err)
}

// session is the connection, where there is one now.
func (s *store) session() (*session, error) {
	if s.ended.Err() != nil {
		return nil, engine.ErrClosed
	}
	current := s.current.Load()
	if !current.alive() {
		failed := s.failed.Err()
		switch {
		case failed == nil:
			return nil, fmt.Errorf("%w: no connection to %s", engine.ErrUnreachable, s.address.Name)
		case errors.Is(failed, engine.ErrUnreachable):
			return nil, fmt.Errorf("no connection to %s: %w", s.address.Name, failed)
		}
		return nil, fmt.Errorf("%w: no connection to %s: %w", engine.ErrUnreachable, s.address.Name, failed)
	}
	return current, nil
}

// failure makes the channel's error of the client's.
func failure(err error) error {
	if err == nil || errors.Is(err, engine.ErrUnreachable) || errors.Is(err, engine.ErrFull) || errors.Is(err, engine.ErrNotOffered) || errors.Is(err, engine.ErrClosed) {
		return err
	}
	said, ok := errors.AsType[*amqp091.Error](err)
	if !ok || errors.Is(err, amqp091.ErrClosed) {
		return fmt.Errorf("%w: %w", engine.ErrUnreachable, err) // the network's
	}
	if notUsable(err) {
		return fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
	}
	switch said.Code {
	case amqp091.ConnectionForced, amqp091.InternalError, amqp091.ResourceError, amqp091.FrameError, amqp091.UnexpectedFrame, amqp091.ChannelError:
		return fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
	}
	return err
}
