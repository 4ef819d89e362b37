package links

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/sabir-go/sabir/internal/amqp"
	"github.com/sabir-go/sabir/transport"
)

const (
	exchange       = "amq.direct"
	largestMessage = 16 << 20
	largestFrame   = 1 << 20 // bytes, if the broker goes so far: its limit is 128 KiB unless configured
	largestQueue   = 64 << 20
)

// session is two connections to the broker. It is of no use after its first error.
type session struct {
	queueOf               func(subject string) (string, time.Duration)
	publishing, consuming *line
	returns               chan amqp091.Return
	alarms                chan amqp091.Blocking // which the broker sends who publishes while it has one
	alarm                 atomic.Pointer[error] // nil for none
	ended                 chan struct{}         // is closed when it broke
	deliveries            sync.WaitGroup
	leaving               atomic.Bool

	requestMu sync.Mutex // one question to the broker at a time

	mu  sync.Mutex
	err error // the first
}

// line is one connection with its channel.
type line struct {
	connection *amqp.Connection
	channel    *amqp091.Channel
	closed     [2]chan *amqp091.Error // of the connection and of the channel
}

// open dials the broker twice.
func open(ctx context.Context, a *amqp.Address, config transport.Config, queueOf func(string) (string, time.Duration)) (*session, error) {
	publishing, err := openLine(ctx, a, config)
	if err != nil {
		return nil, err
	}
	consuming, err := openLine(ctx, a, config)
	if err != nil {
		publishing.connection.Socket.Close()
		return nil, err
	}
	p := &session{queueOf: queueOf, publishing: publishing, consuming: consuming, ended: make(chan struct{})}
	p.returns = publishing.channel.NotifyReturn(make(chan amqp091.Return, 64))
	p.alarms = publishing.connection.NotifyBlocked(make(chan amqp091.Blocking, 8))
	return p, nil
}

func openLine(ctx context.Context, a *amqp.Address, config transport.Config) (*line, error) {
	connection, err := a.Dial(ctx, amqp091.Config{FrameSize: largestFrame, Heartbeat: max(time.Second, config.KeepAliveIdle())})
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { connection.Socket.Close() })
	l := &line{connection: connection}
	if l.channel, err = connection.Channel(); err == nil {
		l.closed[0] = connection.NotifyClose(make(chan *amqp091.Error, 1))
		l.closed[1] = l.channel.NotifyClose(make(chan *amqp091.Error, 1))
	}
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		connection.Socket.Close()
		return nil, err
	}
	return l, nil
}

// watch waits for the end of the session. It reports messages that came back, and alarms: nil is the end of one.
func (p *session) watch(returned func(subject string), alarm func(error)) {
	returns, alarms, publishing, consuming := p.returns, p.alarms, p.publishing.closed, p.consuming.closed
	for {
		select {
		case message, open := <-returns:
			if !open {
				returns = nil
				continue
			}
			returned(message.RoutingKey)
		case a, open := <-alarms:
			switch {
			case !open:
				alarms = nil
			case a.Active:
				err := fmt.Errorf("RabbitMQ has an alarm and takes no messages: %s", cmp.Or(a.Reason, "it is short of memory or disk"))
				p.alarm.Store(&err)
				alarm(err)
			default:
				p.alarm.Store(nil)
				alarm(nil)
			}
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
			for range p.alarms {
			}
			p.deliveries.Wait()
			return
		}
	}
}

// lost takes in what a channel of NotifyClose brought. It is closed, which is nil here, by leave, and where the end came
// before the channel was known.
func (p *session) lost(from *chan *amqp091.Error, err *amqp091.Error) {
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
		p.publishing.connection.Socket.Close()
		p.consuming.connection.Socket.Close()
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
	if alarm := p.alarm.Load(); alarm != nil { // it would wait until the alarm is over
		return *alarm
	}
	to, key := exchange, subject
	if p.queueOf != nil {
		if queue, _ := p.queueOf(subject); queue == subject {
			to = "" // the exchange that hands each message to the queue of its key
		} else {
			to, key = subject, ""
		}
	}
	err := p.publishing.channel.Publish(to, key, probe, false, amqp091.Publishing{Body: data})
	if err != nil && !errors.Is(err, amqp091.ErrClosed) { // of which watch learns the cause
		p.fail(err)
	}
	return err
}

// subscribe makes a queue and has its messages delivered until the session ends. It waits for the broker.
func (p *session) subscribe(s *subscription) error {
	p.requestMu.Lock()
	defer p.requestMu.Unlock()
	consumer := s.subject + "-" + rand.Text()[:10]
	queue := consumer
	var err error
	if p.queueOf == nil {
		err = p.declare(queue, s.subject)
	} else {
		queue, err = p.declareNamed(s.subject)
	}
	if err != nil {
		return err
	}
	const autoAck, noLocal, noWait = true, false, false
	messages, err := p.consuming.channel.Consume(queue, consumer, autoAck, p.queueOf == nil, noLocal, noWait, nil)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return p.err
	}
	s.consumer = consumer
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

// declare makes the queue of a subject of Sabir's own nodes.
func (p *session) declare(queue, subject string) error {
	const durable, autoDelete, exclusive, noWait = false, true, true, false
	if _, err := p.consuming.channel.QueueDeclare(queue, durable, autoDelete, exclusive, noWait, amqp091.Table{"x-max-length-bytes": largestQueue}); err != nil {
		return err
	}
	return p.consuming.channel.QueueBind(queue, subject, exchange, noWait, nil)
}

// declareNamed makes the queue of a subject of other programs, and the exchange if it has one. They must be as those programs would make them,
// which the broker checks.
func (p *session) declareNamed(subject string) (queue string, err error) {
	const durable, exclusive, noWait = true, false, false
	channel := p.consuming.channel
	queue, keep := p.queueOf(subject)
	var settings amqp091.Table
	if keep > 0 {
		settings = amqp091.Table{"x-expires": keep.Milliseconds()}
	}
	if _, err = channel.QueueDeclare(queue, durable, keep == 0, exclusive, noWait, settings); err != nil || queue == subject {
		return queue, err
	}
	const autoDelete, internal = false, false
	if err = channel.ExchangeDeclare(subject, "fanout", durable, autoDelete, internal, noWait, nil); err != nil {
		return queue, err
	}
	return queue, channel.QueueBind(queue, "", subject, noWait, nil)
}

// unsubscribe undoes subscribe; the queue goes with its consumer.
func (p *session) unsubscribe(s *subscription) {
	p.requestMu.Lock()
	defer p.requestMu.Unlock()
	p.consuming.channel.Cancel(s.consumer, false)
}

// leave sends a goodbye, which the broker answers when it has read all that was published.
func (p *session) leave(limit time.Duration) {
	p.leaving.Store(true)
	deadline := time.Now().Add(limit)
	p.publishing.connection.CloseDeadline(deadline)
	p.consuming.connection.CloseDeadline(deadline)
	p.fail(net.ErrClosed)
}
