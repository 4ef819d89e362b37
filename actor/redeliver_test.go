package actor

import (
	"context"
	"errors"
	"testing"
)

type (
	passOn  struct{ Text string }
	passed  struct{ Text string }
	answerT struct {
		Text string
		From PID
	}
)

// clerk hands everything on to a desk.
type clerk struct{ desk PID }

func (c *clerk) Init(_ *Process, desk PID) error { c.desk = desk; return nil }
func (c *clerk) Call(p *Process, m passOn) (struct{}, error) {
	held := p.Pending()
	go func() { _ = Redeliver(p.System(), held, c.desk, passed{m.Text + "!"}) }() // later, from anywhere
	return struct{}{}, ErrNoReply
}
func (c *clerk) Message(p *Process, m passOn) error {
	return Redeliver(p, p.Pending(), c.desk, passed{m.Text + "!"})
}

type desk struct{ got chan answerT }

func (d *desk) Init(_ *Process, got chan answerT) error { d.got = got; return nil }
func (d *desk) Call(p *Process, m passed) (answerT, error) {
	if text, _ := p.Context().Value(handedKey{}).(string); text != "" {
		m.Text += text
	}
	return answerT{m.Text, p.Sender()}, nil
}
func (d *desk) Message(p *Process, m passed) error { d.got <- answerT{m.Text, p.Sender()}; return nil }

type handedKey struct{}

type client struct{ clerk PID }

func (c *client) Init(_ *Process, clerk PID) error { c.clerk = clerk; return nil }
func (c *client) Ask(p *Process, m passOn) (answerT, error) {
	return Call[answerT](context.WithValue(p.Context(), handedKey{}, "?"), p, c.clerk, m)
}
func (c *client) Tell(p *Process, m passOn) error { return Send(p, c.clerk, m) }

var (
	clerkB  = Define("clerk", (*clerk).Init, OnCall((*clerk).Call), OnMessage((*clerk).Message))
	deskB   = Define("desk", (*desk).Init, OnCall((*desk).Call), OnMessage((*desk).Message))
	clientB = Define("client", (*client).Init, OnCall((*client).Ask), OnMessage((*client).Tell))
)

func TestWhatIsHandedOnHasItsSenderAndACallIsAnsweredByTheLast(t *testing.T) {
	s := NewSystem(Config{})
	defer s.Stop(t.Context())
	got := make(chan answerT, 1)
	spawn := func(pid PID, err error) PID {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return pid
	}
	d := spawn(deskB.Spec(got).Start(s))
	c := spawn(clerkB.Spec(d).Start(s))
	replyTo := spawn(clientB.Spec(c).Start(s))
	answer, err := Call[answerT](t.Context(), s, replyTo, passOn{"a"})
	if want := (answerT{"a!?", replyTo}); err != nil || answer != want {
		t.Fatalf("got %v, %v, want %v", answer, err, want)
	}
	if err := Send(s, replyTo, passOn{"b"}); err != nil {
		t.Fatal(err)
	}
	if got, want := <-got, (answerT{"b!", replyTo}); got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
	Kill(s, d)
	for s.Alive(d) {
		_, _ = Call[answerT](t.Context(), s, c, passOn{"c"})
	}
	if _, err := Call[answerT](t.Context(), s, c, passOn{"c"}); !errors.Is(err, ErrNoProcess) {
		t.Fatalf("got %v, want ErrNoProcess", err)
	}
}
