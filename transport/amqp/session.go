package amqp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

const (
	exchange       = "amq.direct"
	largestMessage = 16 << 20
	largestFrame   = 1 << 20 // bytes, if the broker goes so far: it says 128 KiB unless configured
	largestQueue   = 64 << 20
)

// session is two connections to the broker. It is of no use after its first error.
type session struct {
	publishing, consuming *line
	returns               chan amqp.Return
	ended                 chan struct{} // is closed when it broke
	deliveries            sync.WaitGroup
	leaving               atomic.Bool

	asking sync.Mutex // one question to the broker at a time

	mu  sync.Mutex
	err error // the first
}

// line is one connection with its channel.
type line struct {
	socket     io.Closer // below TLS, whose own Close may wait
	connection *amqp.Connection
	channel    *amqp.Channel
	closed     [2]chan *amqp.Error // of the connection and of the channel
}

// open dials the broker twice.
func (s *site) open(ctx context.Context) (*session, error) {
	publishing, err := s.line(ctx)
	if err != nil {
		return nil, err
	}
	consuming, err := s.line(ctx)
	if err != nil {
		publishing.socket.Close()
		return nil, err
	}
	p := &session{publishing: publishing, consuming: consuming, ended: make(chan struct{})}
	p.returns = publishing.channel.NotifyReturn(make(chan amqp.Return, 64))
	return p, nil
}

func (s *site) line(ctx context.Context) (*line, error) {
	raw, socket, err := s.dialRaw(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { socket.Close() })
	l := &line{socket: socket}
	l.connection, err = amqp.Open(raw, amqp.Config{
		SASL:      []amqp.Authentication{&amqp.PlainAuth{Username: s.user, Password: s.password}},
		Vhost:     s.vhost,
		Locale:    "en_US",
		FrameSize: largestFrame,
		Heartbeat: max(time.Second, s.config.KeepAliveIdle()),
	})
	if err == nil {
		l.channel, err = l.connection.Channel()
	}
	if err == nil {
		l.closed[0] = l.connection.NotifyClose(make(chan *amqp.Error, 1))
		l.closed[1] = l.channel.NotifyClose(make(chan *amqp.Error, 1))
	}
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		socket.Close()
		return nil, err
	}
	return l, nil
}

// watch waits for the end of the session, and tells of messages that came back.
func (p *session) watch(returned func(subject string)) {
	returns, publishing, consuming := p.returns, p.publishing.closed, p.consuming.closed
	for {
		select {
		case message, open := <-returns:
			if !open {
				returns = nil
				continue
			}
			returned(message.RoutingKey)
		case err := <-publishing[0]:
			p.lost(&publishing[0], err)
		case err := <-publishing[1]:
			p.lost(&publishing[1], err)
		case err := <-consuming[0]:
			p.lost(&consuming[0], err)
		case err := <-consuming[1]:
			p.lost(&consuming[1], err)
		case <-p.ended:
			for range p.returns { // which the library closes
			}
			p.deliveries.Wait()
			return
		}
	}
}

// lost takes in what a channel of NotifyClose brought. It is closed, which is nil here, by leave, and where the end came
// before the channel was known.
func (p *session) lost(from *chan *amqp.Error, err *amqp.Error) {
	switch {
	case err != nil:
		p.fail(fmt.Errorf("the connection ended: %w", err))
	case p.leaving.Load():
		*from = nil
	default:
		p.fail(errors.New("the connection ended"))
	}
}

// fail ends the session, unless it has ended.
func (p *session) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
		p.publishing.socket.Close()
		p.consuming.socket.Close()
		close(p.ended)
	}
}

// reason is the error that the session ended with.
func (p *session) reason() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

func (p *session) publish(subject string, data []byte, probe bool) error {
	err := p.publishing.channel.Publish(exchange, subject, probe, false, amqp.Publishing{Body: data})
	if err != nil && !errors.Is(err, amqp.ErrClosed) { // of which watch learns the cause
		p.fail(err)
	}
	return err
}

// subscribe makes a queue and has its messages delivered until the session ends. It waits for the broker.
func (p *session) subscribe(s *subscription) error {
	p.asking.Lock()
	defer p.asking.Unlock()
	queue := s.subject + "-" + rand.Text()[:10]
	channel := p.consuming.channel
	const durable, autoDelete, exclusive, noWait = false, true, true, false
	if _, err := channel.QueueDeclare(queue, durable, autoDelete, exclusive, noWait, amqp.Table{"x-max-length-bytes": largestQueue}); err != nil {
		return err
	}
	if err := channel.QueueBind(queue, s.subject, exchange, noWait, nil); err != nil {
		return err
	}
	const autoAck, noLocal = true, false
	messages, err := channel.Consume(queue, queue, autoAck, exclusive, noLocal, noWait, nil)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return p.err
	}
	s.queue = queue
	p.deliveries.Go(func() {
		for message := range messages {
			s.deliver(message.Body)
		}
		if !s.cancelled.Load() && !p.consuming.channel.IsClosed() { // of which watch learns the cause
			p.fail(errors.New("the broker ended a subscription"))
		}
	})
	return nil
}

// unsubscribe undoes subscribe; the queue goes with its consumer.
func (p *session) unsubscribe(s *subscription) {
	p.asking.Lock()
	defer p.asking.Unlock()
	p.consuming.channel.Cancel(s.queue, false)
}

// leave says goodbye, which the broker answers when it has read all that was published.
func (p *session) leave(limit time.Duration) {
	p.leaving.Store(true)
	deadline := time.Now().Add(limit)
	p.publishing.connection.CloseDeadline(deadline)
	p.consuming.connection.CloseDeadline(deadline)
	p.fail(net.ErrClosed)
}
