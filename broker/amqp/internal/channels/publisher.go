package channels

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/sabir-go/sabir/internal/amqp"
	"github.com/sabir-go/sabir/internal/engine"
)

const (
	// maxQueued bounds the batches that wait to be written to the connection.
	maxQueued = 64
	// blockedLimit is the time for which those who wait for an answer when the server has an alarm still wait: for answers to what it
	// had read before.
	blockedLimit = 200 * time.Millisecond
)

// publisher is a connection for publishing, with one goroutine that writes to it: where the server reads nothing, a write takes as
// long as that lasts, and nobody else should wait for it.
type publisher struct {
	conn  *amqp.Connection
	gone  <-chan struct{} // closed when the connection is
	queue chan *batch
	ended chan struct{} // closed when write has ended

	mu      sync.Mutex
	alarm   string        // why the server reads nothing; "" while it does
	blocked chan struct{} // closed when the server has read nothing for blockedLimit
	stuck   bool          // blocked is closed
	late    *time.Timer   // closes blocked
}

// batch is messages on their way, and what became of them.
type batch struct {
	exchange, key string
	list          []amqp091.Publishing
	on            *confirming
	confirms      []*amqp091.DeferredConfirmation
	errs          []error       // for which there is no confirmation
	written       chan struct{} // closed when confirms and errs are filled in
	abandoned     atomic.Bool   // nobody waits for it any more: what was not written is not to be
}

func newPublisher(conn *amqp.Connection, gone <-chan struct{}) *publisher {
	p := &publisher{conn: conn, gone: gone, queue: make(chan *batch, maxQueued), ended: make(chan struct{}), blocked: make(chan struct{})}
	alarms := conn.NotifyBlocked(make(chan amqp091.Blocking, 8))
	go func() {
		for a := range alarms {
			p.setAlarm(a)
		}
	}()
	go p.write()
	return p
}

// setAlarm notes that the server has an alarm, or that it is over. The server reports it to connections that publish while it has one.
func (p *publisher) setAlarm(a amqp091.Blocking) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.late != nil {
		p.late.Stop()
	}
	if !a.Active {
		p.alarm = ""
		if p.stuck {
			p.blocked, p.stuck = make(chan struct{}), false
		}
		return
	}
	if p.alarm = a.Reason; p.alarm == "" {
		p.alarm = "it is short of memory or disk"
	}
	p.late = time.AfterFunc(blockedLimit, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.alarm != "" && !p.stuck {
			close(p.blocked)
			p.stuck = true
		}
	})
}

// state returns an ErrFull while the server has an alarm, and a channel that is closed when it has had one for a moment.
func (p *publisher) state() (blocked <-chan struct{}, full error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alarm != "" {
		full = fmt.Errorf("%w: RabbitMQ takes no messages: %s", engine.ErrFull, p.alarm)
	}
	return p.blocked, full
}

// publish publishes messages and waits until the server has each. errs has as many errors as there are messages.
func (p *publisher) publish(ctx context.Context, exchange, key string, list []amqp091.Publishing, errs []error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	fail := func(err error) {
		for i := range errs {
			errs[i] = err
		}
	}
	blocked, full := p.state()
	if full != nil {
		fail(full)
		return
	}
	b := &batch{exchange: exchange, key: key, list: list, confirms: make([]*amqp091.DeferredConfirmation, len(list)),
		errs: make([]error, len(list)), written: make(chan struct{})}
	select {
	case p.queue <- b:
	case <-p.gone:
	case <-blocked:
	case <-ctx.Done():
	}
	select {
	case <-b.written:
	case <-p.gone:
		fail(p.unanswered(ctx))
		return
	case <-blocked:
		b.abandoned.Store(true)
		fail(p.unanswered(ctx))
		return
	case <-ctx.Done():
		b.abandoned.Store(true)
		fail(p.unanswered(ctx))
		return
	}
	for i, c := range b.confirms {
		if errs[i] = failure(b.errs[i]); c != nil {
			errs[i] = p.confirmed(ctx, b.on, c, blocked)
		}
	}
}

// confirmed waits for the answer to one message.
func (p *publisher) confirmed(ctx context.Context, on *confirming, c *amqp091.DeferredConfirmation, blocked <-chan struct{}) error {
	select {
	case <-c.Done():
	default:
		select {
		case <-c.Done():
		case <-p.gone:
		case <-blocked:
		case <-ctx.Done():
		}
	}
	select {
	case <-c.Done():
	default:
		return p.unanswered(ctx)
	}
	switch {
	case c.Acked():
		return nil
	case p.conn.IsClosed():
		return fmt.Errorf("%w: the connection broke before it answered", engine.ErrUnreachable)
	}
	if err := on.failure(); err != nil {
		return fmt.Errorf("%w: %w", engine.ErrUnreachable, err)
	}
	return fmt.Errorf("%w: it refused the message", engine.ErrFull)
}

// unanswered is the error of messages that the server has not answered.
func (p *publisher) unanswered(ctx context.Context) error {
	if _, full := p.state(); full != nil {
		return full
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: it did not answer: %w", engine.ErrUnreachable, ctx.Err())
	}
	return fmt.Errorf("%w: the connection broke before it answered", engine.ErrUnreachable)
}

// write writes batches until the connection is gone.
func (p *publisher) write() {
	defer close(p.ended)
	var ch *confirming // nil until it is used
	for {
		var b *batch
		select {
		case b = <-p.queue:
		case <-p.gone:
			return
		}
		if b.abandoned.Load() {
			continue
		}
		var err error
		if ch == nil || ch.IsClosed() { // the server closes one on which something failed
			ch, err = p.open()
		}
		b.on = ch
		for i, m := range b.list {
			if err != nil || b.abandoned.Load() {
				b.errs[i] = err
				continue
			}
			b.confirms[i], b.errs[i] = ch.PublishWithDeferredConfirm(b.exchange, b.key, false, false, m)
		}
		close(b.written)
	}
}

// confirming is a channel in confirm mode.
type confirming struct {
	*amqp091.Channel
	closed chan *amqp091.Error // has why the server closed it, before those who wait for answers get none

	mu  sync.Mutex
	err error
}

func (p *publisher) open() (*confirming, error) {
	ch, err := p.conn.Channel()
	if err != nil {
		return nil, err
	}
	return &confirming{Channel: ch, closed: ch.NotifyClose(make(chan *amqp091.Error, 1))}, ch.Confirm(false)
}

// failure is why the server closed the channel, as it does where there is no such exchange; nil where it has not.
func (c *confirming) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case err := <-c.closed:
		if err != nil { // nil is the end of the connection
			c.err = err
		}
	default:
	}
	return c.err
}

// check publishes a message that no queue takes, which the server confirms too.
func (p *publisher) check(ctx context.Context, prefix string) error {
	errs := make([]error, 1)
	p.publish(ctx, "", prefix+":check", []amqp091.Publishing{{DeliveryMode: amqp091.Transient}}, errs)
	return errs[0]
}
