package isolation_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
)

// noConsumer is the reason why publishers get no error of consumers.
const noConsumer = "who publishes does not wait for those who consume; the message becomes a dead letter"

// channelEntryPoints are the ways into and out of a channel. A good value goes through when it was handled, and one with a fault when it
// is dead-lettered with its reason after two attempts, where the publisher got no error.
var channelEntryPoints = []entryPoint{
	{name: "message of a channel", open: func(t *testing.T, log *slog.Logger) func(context.Context, Payload) error {
		c := channel.New[Payload](fmt.Sprintf("isolation.n%d", numbers.Add(1)))
		handled := make(chan Payload, 16)
		s := sabir.NewService("isolation")
		c.ConsumeWith(s, channel.Consumer{Attempts: 2, FirstPause: time.Millisecond, MaxPause: time.Millisecond, MaxInFlight: 1}, func(_ context.Context, p Payload) error { handled <- p; return nil })
		n := start(t, sabir.Logger(log), channel.Broker("mem://"), sabir.Serve(s))
		return func(ctx context.Context, p Payload) error {
			if _, err := c.Publish(ctx, n, p); err != nil {
				return err
			}
			for {
				select {
				case <-handled:
					return nil
				case <-ctx.Done():
					return errors.New("it was neither handled nor given up")
				case <-time.After(time.Millisecond):
				}
				dead, err := channel.DeadLetters(ctx, n, c.Name()+".dead", 10)
				if err != nil || len(dead) == 0 {
					continue
				}
				if d := dead[0].Dead; d.Attempts != 2 || d.Code != "Internal" || !strings.Contains(d.Reason, "goroutine") && !strings.Contains(d.Reason, "panicked") {
					t.Errorf("the dead letter says %+v", d)
				}
				_, err = channel.DeleteDeadLetters(ctx, n, c.Name()+".dead", dead[0].Key)
				return err
			}
		}
	}, silent: map[fault]string{panicsRead: noConsumer, exitsRead: noConsumer, panicsChecked: noConsumer, exitsChecked: noConsumer},
		cannot: map[fault]string{exitsWritten: "the goroutine is the publisher's own"}},
}

// A handler of a channel that panics, ends its goroutine or returns an error whose own code panics has failed: its message is
// tried again and is dead-lettered, and its place in flight is free.
func TestAHandlerOfAChannelThatDoesNotReturnHasFailed(t *testing.T) {
	c := channel.New[fault](fmt.Sprintf("isolation.n%d", numbers.Add(1)))
	handled := make(chan fault, 16)
	s := sabir.NewService("isolation")
	c.ConsumeWith(s, channel.Consumer{Attempts: 2, FirstPause: time.Millisecond, MaxPause: time.Millisecond, MaxInFlight: 1}, func(_ context.Context, f fault) error {
		Text(f).misbehave(panicsRead, exitsRead)
		if f == panicsWritten {
			return brokenError{}
		}
		handled <- f
		return nil
	})
	n := start(t, sabir.Logger(slog.New(slog.DiscardHandler)), channel.Broker("mem://"), sabir.Serve(s))
	for _, f := range []fault{panicsRead, exitsRead, panicsWritten, "good"} {
		if _, err := c.Publish(t.Context(), n, f); err != nil {
			t.Fatal(err)
		}
	}
	if f := <-handled; f != "good" {
		t.Fatal(f)
	}
	var dead []channel.DeadLetter
	for end := time.Now().Add(10 * time.Second); len(dead) < 3 && time.Now().Before(end); {
		var err error
		if dead, err = channel.DeadLetters(t.Context(), n, c.Name()+".dead", 10); err != nil {
			t.Fatal(err)
		}
	}
	if len(dead) != 3 {
		t.Fatalf("%d dead letters", len(dead))
	}
	for _, d := range dead {
		if d.Dead.Attempts != 2 || d.Dead.Code != "Internal" {
			t.Errorf("%s: %+v", d.Data, d.Dead)
		}
	}
}

// brokenError is an error whose text panics.
type brokenError struct{}

func (brokenError) Error() string { panic(secret) }
