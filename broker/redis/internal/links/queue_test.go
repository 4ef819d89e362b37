package links

import (
	"errors"
	"net"
	"testing"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

func TestAFullQueueHoldsPublishersUpUntilABatchIsTaken(t *testing.T) {
	for name, fill := range map[string]func(q *queue) error{
		"by bytes": func(q *queue) error { return q.put("a", make([]byte, queueLimit), false) },
		"by count": func(q *queue) error {
			for range countLimit {
				if err := q.put("a", []byte("x"), false); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				q := newQueue()
				if err := fill(q); err != nil {
					t.Fatal(err)
				}
				put := make(chan error, 1)
				go func() { put <- q.put("b", []byte("y"), true) }()
				bubbletest.Wait()
				if len(put) > 0 {
					t.Fatal("the queue took more than its limit")
				}
				q.done(q.take(), nil)
				if err := <-put; err != nil {
					t.Fatal(err)
				}
				b := q.take()
				if len(b.messages) != 1 || b.messages[0] != (message{"b", 1, true}) || string(b.data) != "y" {
					t.Errorf("the next batch is %+v", b)
				}
			})
		})
	}
}

func TestAnEmptyQueueTakesOneMessageOfAnySize(t *testing.T) {
	q := newQueue()
	if err := q.put("a", make([]byte, 3*queueLimit), false); err != nil {
		t.Fatal(err)
	}
	b := q.take()
	q.done(b, nil)
	if cap(b.data) > 2*queueLimit {
		t.Errorf("a buffer of %d bytes is kept", cap(b.data))
	}
}

func TestAPublisherThatWaitsForAFullQueueGetsTheErrorOfItsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(*queue)
		want error
	}{"closed": {(*queue).close, net.ErrClosed}, "down": {(*queue).setDown, errDown}} {
		t.Run(name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				q := newQueue()
				q.put("a", make([]byte, queueLimit), false)
				put, drained := make(chan error, 1), make(chan struct{})
				go func() { put <- q.put("b", []byte("y"), false) }()
				go func() {
					q.drain()
					close(drained)
				}()
				bubbletest.Wait()
				test.end(q)
				if err := <-put; !errors.Is(err, test.want) {
					t.Errorf("put gave %v, want %v", err, test.want)
				}
				<-drained
				if b := q.take(); b != nil {
					t.Errorf("a batch can still be taken: %+v", b.messages)
				}
			})
		})
	}
}

func TestWhatWaitedIsDroppedWhenTheConnectionIsLost(t *testing.T) {
	q := newQueue()
	q.put("a", []byte("before"), false)
	q.setDown()
	q.setUp()
	q.put("a", []byte("after"), false)
	if b := q.take(); string(b.data) != "after" {
		t.Errorf("%q is sent", b.data)
	}
}

func TestARefusalIsReturnedOnce(t *testing.T) {
	q := newQueue()
	q.put("a", []byte("x"), false)
	refused := errors.New("no right")
	q.done(q.take(), refused)
	if err := q.put("a", []byte("x"), false); !errors.Is(err, refused) {
		t.Errorf("the next put gave %v", err)
	}
	if err := q.put("a", []byte("x"), false); err != nil {
		t.Errorf("the one after gave %v", err)
	}
}
