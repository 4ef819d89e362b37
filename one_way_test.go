package sabir_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

type noteInput struct {
	Text string `json:"text" validate:"max=8"`
}

var addNote = sabir.NewAction[noteInput, string]("notes.add")

// lines is a log handler that hands over the messages with their errors.
type lines chan string

func (l lines) Enabled(context.Context, slog.Level) bool { return true }
func (l lines) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l lines) WithGroup(string) slog.Handler            { return l }
func (l lines) Handle(_ context.Context, r slog.Record) error {
	if r.Message != "a one-way call failed" {
		return nil
	}
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" {
			l <- a.Value.Any().(error).Error()
		}
		return true
	})
	return nil
}

// noteTakers are a node that may have the action, and one that sends to it and hands over what its log says of failed one-way calls.
func noteTakers(t *testing.T, remote bool, add func(context.Context, noteInput) (string, error)) (sender *sabir.Node, failed lines) {
	s := sabir.NewService("notes")
	addNote.Handle(s, add)
	failed = make(lines, 10)
	logger := sabir.Logger(slog.New(failed))
	if !remote {
		return start(t, sabir.Serve(s), logger), failed
	}
	address := sabir.Join("mem://" + strings.ReplaceAll(t.Name(), "/", "-"))
	start(t, sabir.NodeID("taker"), sabir.Serve(s), address)
	sender = start(t, sabir.NodeID("sender"), address, logger)
	if err := sender.WaitFor(t.Context(), "notes"); err != nil {
		t.Fatal(err)
	}
	return sender, failed
}

func TestSendDoesNotWaitForTheHandler(t *testing.T) {
	for name, remote := range map[string]bool{"on this node": false, "on another node": true} {
		t.Run(name, func(t *testing.T) {
			release, handled := make(chan struct{}), make(chan noteInput)
			sender, _ := noteTakers(t, remote, func(ctx context.Context, in noteInput) (string, error) {
				<-release
				in.Text += sabir.InfoFromContext(ctx).RequestID
				handled <- in
				return "nobody reads this", ctx.Err()
			})
			ctx, cancel := context.WithCancel(sabir.WithRequestID(t.Context(), "-r1"))
			if err := addNote.Send(ctx, sender, noteInput{"milk"}); err != nil {
				t.Fatal(err)
			}
			cancel() // which ends the caller, and not what it has sent
			close(release)
			if got := <-handled; got.Text != "milk-r1" {
				t.Errorf("got %q", got.Text)
			}
		})
	}
}

func TestHowASentCallFailsIsInTheLogOnce(t *testing.T) {
	for name, remote := range map[string]bool{"on this node": false, "on another node": true} {
		t.Run(name, func(t *testing.T) {
			sender, failed := noteTakers(t, remote, func(_ context.Context, in noteInput) (string, error) {
				if in.Text == "panic" {
					panic("no space")
				}
				return "", errors.New("no paper")
			})
			for text, want := range map[string]string{"eggs": "no paper", "panic": "panicked", "much too long": "is not valid"} {
				if err := addNote.Send(t.Context(), sender, noteInput{text}); err != nil {
					t.Fatal(err)
				}
				if got := <-failed; !strings.Contains(got, want) {
					t.Errorf("%s: %s", text, got)
				}
			}
			if len(failed) != 0 {
				t.Errorf("and %s", <-failed)
			}
		})
	}
}

func TestSendOfWhatNobodyOffersIsAnErrorAtOnce(t *testing.T) {
	n := start(t)
	if err := addNote.Send(t.Context(), n, noteInput{}); !errors.Is(err, sabir.ErrActionNotFound) {
		t.Errorf("an unknown name: %v", err)
	}
	if err := new(sabir.Contract[int, int]).Send(t.Context(), n, 1); sabir.AsError(err).Name != "BadContract" {
		t.Errorf("the zero contract: %v", err)
	}
	if err := addNote.Send(t.Context(), sabir.NewService("alone"), noteInput{}); !errors.Is(err, sabir.ErrServiceUnavailable) {
		t.Errorf("a service that no node serves: %v", err)
	}
}

func TestSendWaitsAtTheBoundOfOneWayCallsAndThenRefuses(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		release := make(chan struct{})
		sender, _ := noteTakers(t, false, func(context.Context, noteInput) (string, error) { <-release; return "", nil })
		defer bubbletest.Wait()
		defer close(release)
		for range 1024 {
			if err := addNote.Send(t.Context(), sender, noteInput{}); err != nil {
				t.Fatal(err)
			}
		}
		begun := time.Now()
		if err := addNote.Send(t.Context(), sender, noteInput{}); !errors.Is(err, sabir.ErrTooManyCalls) || time.Since(begun) != 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun = time.Now()
		if err := addNote.Send(ctx, sender, noteInput{}); !errors.Is(err, sabir.ErrTooManyCalls) || time.Since(begun) != time.Second {
			t.Errorf("with a deadline: %v after %v", err, time.Since(begun))
		}
	})
}

func TestTheTimeLimitOfASentCallEndsItsHandler(t *testing.T) {
	ended := make(chan error, 1)
	sender, failed := noteTakers(t, true, func(ctx context.Context, _ noteInput) (string, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return "", ctx.Err()
	})
	if err := addNote.Send(t.Context(), sender, noteInput{}, sabir.WithTimeout(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	<-ended
	if got := <-failed; !strings.Contains(got, "deadline") {
		t.Error(got)
	}
}

func TestANodeThatStopsWaitsForWhatItHasSent(t *testing.T) {
	for name, remote := range map[string]bool{"on this node": false, "on another node": true} {
		t.Run(name, func(t *testing.T) {
			begun, release, handled := make(chan struct{}), make(chan struct{}), make(chan error, 1)
			sender, _ := noteTakers(t, remote, func(ctx context.Context, _ noteInput) (string, error) {
				close(begun)
				<-release
				handled <- ctx.Err()
				return "", nil
			})
			if err := addNote.Send(t.Context(), sender, noteInput{"milk"}); err != nil {
				t.Fatal(err)
			}
			<-begun
			stopped := make(chan error, 1)
			go func() { stopped <- sender.Stop(t.Context()) }()
			for sender.State() == "running" {
				runtime.Gosched()
			}
			close(release)
			if err := <-stopped; err != nil || len(handled) != 1 {
				t.Fatalf("stopped with %v, handled %d", err, len(handled))
			}
			if err := <-handled; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAStopWhoseTimeIsUpSaysWhatIsStillSent(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	sender, _ := noteTakers(t, false, func(context.Context, noteInput) (string, error) {
		close(begun)
		<-release
		return "", nil
	})
	defer close(release)
	if err := addNote.Send(t.Context(), sender, noteInput{"milk"}); err != nil {
		t.Fatal(err)
	}
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := sender.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1 one-way calls") {
		t.Error(err)
	}
}
