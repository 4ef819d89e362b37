package actor

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

// refusal waits for an answer and does something at the moment at which the call fails.
type refusal func(err error)

func (r refusal) failed(_ uint64, err error) { r(err) }
func (r refusal) answered(uint64, any)       {}
func (r refusal) waits(uint64) bool          { return true }

func TestTheNameAndThePlaceOfAProcessAreFreeWhenItsEndIsReported(t *testing.T) {
	s := quiet(Config{MaxProcesses: 1})
	defer s.Stop(context.Background())
	pid := spawn(t, s, hooks{}, SpawnConfig{Name: "it"})
	gate := busyIn(t, s, pid)
	var again error
	reported := make(chan error, 1)
	call := messagesOf[ask]().call(ask{}, Request{to: refusal(func(err error) {
		_, again = Spawn(s, puppets, hooks{}, SpawnConfig{Name: "it"})
		reported <- err
	})})
	if err := s.push(pid, &call.head, nil); err != nil {
		t.Fatal(err)
	}
	s.Kill(pid)
	close(gate.open)
	wantError(t, <-reported, ErrNoProcess)
	if again != nil {
		t.Error("another could not take its place:", again)
	}
}

func TestTheContextThatIsAskedForAfterKillHasEnded(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		pid := spawn(t, s, hooks{})
		entered, killed := make(chan struct{}), make(chan struct{})
		cause := make(chan error, 1)
		notify(t, s, pid, func(p *Process) error {
			close(entered)
			<-killed
			cause <- context.Cause(p.Context())
			return nil
		})
		<-entered
		s.Kill(pid)
		close(killed)
		wantError(t, <-cause, ErrKilled)
	})
}

func TestStopEndsTheSupervisedWhoseParentEndsNormally(t *testing.T) {
	bubble(t, func(t *testing.T, s *System) {
		parent, err := Spawn(s, catchers, hooks{any: func(*Process, any) error { return ErrNormal }})
		if err != nil {
			t.Fatal(err)
		}
		var got notes
		in(t, s, parent.PID(), func(p *Process) {
			spawn(t, p, hooks{terminate: func(_ *Process, reason error) { got.add(reason) }}, SpawnConfig{Supervised: true})
		})
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
		got.want(t, ErrShutdown)
	})
}

func TestTheNameOfAnEventIsFreeWhenItsEndIsReported(t *testing.T) {
	s := quiet()
	defer s.Stop(context.Background())
	producer := spawn(t, s, hooks{})
	var event *Topic[int]
	in(t, s, producer, func(p *Process) {
		var err error
		if event, err = NewTopic[int](p, "it", TopicConfig{}); err != nil {
			t.Error(err)
		}
	})
	reported := make(chan struct{})
	var once sync.Once
	subscriber := spawn(t, s, hooks{any: func(_ *Process, m any) error {
		if _, ok := m.(Down); ok {
			once.Do(func() { close(reported) })
		}
		return nil
	}})
	in(t, s, subscriber, func(p *Process) {
		if _, err := p.SubscribeMonitored(Name{Name: "it"}); err != nil {
			t.Error(err)
		}
	})
	s.events.mu.Lock() // so the name stays
	ended := make(chan struct{})
	go func() {
		event.End()
		close(ended)
	}()
	select {
	case <-reported:
		t.Error("the end was reported while the name was taken")
	case <-time.After(100 * time.Millisecond): // nothing is to happen
	}
	s.events.mu.Unlock()
	<-ended
	<-reported
	if _, err := s.events.find(s, "it"); !errors.Is(err, errNoTopic) {
		t.Error(err)
	}
}

// lines is a log that counts its lines.
type lines struct {
	mu   sync.Mutex
	text []string
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, string(b))
	return len(b), nil
}

func TestThatMessagesOfAPeerAreNotUnderstoodIsLoggedOnceASecond(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var log lines
		s := NewSystem(Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		defer s.Stop(context.Background())
		peer := &session{system: s, node: "b"}
		d := &declared{name: "it"}
		for range 1000 {
			peer.logUnreadable(d, errMalformed)
		}
		time.Sleep(warnEvery)
		peer.logUnreadable(d, errMalformed)
		if len(log.text) != 2 || !strings.Contains(log.text[0], "not_logged=0") || !strings.Contains(log.text[1], "not_logged=999") {
			t.Errorf("logged: %q", log.text)
		}
		if lost := s.Stats(); lost.NotHandled != 1001 {
			t.Errorf("counted: %+v", lost)
		}
	})
}
