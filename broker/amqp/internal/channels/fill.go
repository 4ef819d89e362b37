package channels

import (
	"context"
	"errors"
	"fmt"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"

	"github.com/google/uuid"
	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/internal/engine"
)

const (
	copies = 256 // messages on their way from the log to a new group's queue
	// markGroup is the group that the marks in the log are for.
	markGroup = "$mark"
)

// make creates the group's queue and fills it from the log.
//
// A second queue marks that the filling has not ended. So a node that finds it after a crash fills again, and its one
// exclusive consumer does it; the others wait for it.
func (g *group) make(ctx context.Context, session *session) error {
	spec, err := g.store.spec(g.spec.Channel)
	if err != nil {
		return err
	}
	mark := fmt.Sprintf("%s:filling:%s:%s", g.store.prefix, g.spec.Channel, g.spec.Name)
	_, there, err := session.exists(g.queue)
	if err != nil {
		return err
	}
	if !there && !g.spec.From.New && !spec.DeadLetters {
		err = session.withChannel(func(ch *amqp091.Channel) error {
			_, err := ch.QueueDeclare(mark, true, false, false, false, nil)
			return err
		})
	}
	if err == nil {
		err = session.createQueue(ctx, g.queue, quorum())
	}
	if err == nil {
		err = session.withChannel(func(ch *amqp091.Channel) error {
			return ch.QueueBind(g.queue, "", g.store.exchange(g.spec.Channel), false, nil)
		})
	}
	for err == nil {
		_, filling, failed := session.exists(mark)
		if failed != nil || !filling {
			return failed
		}
		err = session.withChannel(func(ch *amqp091.Channel) error {
			if _, err := ch.Consume(mark, "", false, true, false, false, nil); err != nil {
				return err
			}
			if err := g.fill(ctx, session); err != nil {
				return err
			}
			_, err := ch.QueueDelete(mark, false, false, false)
			return err
		})
		if said, ok := errors.AsType[*amqp091.Error](err); ok && (said.Code == amqp091.AccessRefused || said.Code == amqp091.NotFound) {
			err = wait(ctx, 100*time.Millisecond) // another node fills
		}
	}
	return err
}

func wait(ctx context.Context, d time.Duration) error {
	if err := backoff.Sleep(ctx, d); err != nil {
		return fmt.Errorf("%w: it did not answer: %w", engine.ErrUnreachable, err)
	}
	return nil
}

// routingDelay is the time that RabbitMQ may take to put a message into the log that it routed before the new queue was bound.
const routingDelay = 500 * time.Millisecond

// fill copies what the log has to the group's queue, up to a mark that it puts there first.
func (g *group) fill(ctx context.Context, session *session) error {
	if err := wait(ctx, routingDelay); err != nil {
		return err
	}
	end := engine.Message{Head: engine.Head{ID: uuid.NewString(), Time: time.Now(), Only: markGroup}}
	marked, err := publishing(&end)
	if err != nil {
		return err
	}
	log, errs := g.store.logOf(g.spec.Channel), make([]error, 1)
	session.publishing.publish(ctx, "", log, []amqp091.Publishing{marked}, errs)
	if errs[0] != nil {
		return errs[0]
	}
	return session.withChannel(func(ch *amqp091.Channel) error {
		if err := ch.Qos(copies, 0, false); err != nil {
			return err
		}
		deliveries, err := ch.Consume(log, "", false, false, false, false, amqp091.Table{"x-stream-offset": "first"})
		if err != nil {
			return err
		}
		return g.copy(ctx, session, deliveries, end.ID)
	})
}

func (g *group) copy(ctx context.Context, session *session, from <-chan amqp091.Delivery, end string) error {
	var batch []amqp091.Publishing
	flush := func(last *amqp091.Delivery) error {
		errs := make([]error, len(batch))
		session.publishing.publish(ctx, "", g.queue, batch, errs)
		batch = batch[:0]
		return errors.Join(append(errs, last.Ack(true))...)
	}
	for {
		select {
		case d, ok := <-from:
			if !ok {
				return fmt.Errorf("%w: the connection broke", engine.ErrUnreachable)
			}
			m, _ := messageOf(&d) // what cannot be read is for the consumer to find out
			if m.Only != markGroup && !m.Time.Before(g.spec.From.Time) {
				batch = append(batch, amqp091.Publishing{Headers: copied(d.Headers), DeliveryMode: amqp091.Persistent,
					ContentType: d.ContentType, MessageId: d.MessageId, Timestamp: d.Timestamp, Body: d.Body})
			}
			if m.ID == end {
				return flush(&d)
			}
			if len(batch) == copies/2 || m.Only == markGroup || m.Time.Before(g.spec.From.Time) {
				if err := flush(&d); err != nil {
					return err
				}
			}
		case <-ctx.Done():
			return fmt.Errorf("%w: it did not answer: %w", engine.ErrUnreachable, ctx.Err())
		}
	}
}

// copied are the headers of a message that its copy has too.
func copied(headers amqp091.Table) amqp091.Table {
	kept := amqp091.Table{headHeader: headers[headHeader]}
	for name, value := range headers {
		if _, is := attribute(name); is {
			kept[name] = value
		}
	}
	return kept
}
