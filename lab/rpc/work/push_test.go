package work

import (
	"testing"
	"time"
)

func TestMessagesThatTheServerDidNotCountAreWrong(t *testing.T) {
	sent := int64(0)
	c := &Client{Push: func(int, int) (*Pushing, error) {
		return &Pushing{
			Send:   func() error { sent++; return nil },
			Finish: func() (int64, int64, error) { return sent - 5, (sent - 5) * 10, nil },
		}, nil
	}}
	s, err := c.push(time.Millisecond, 1, 10)
	if err != nil {
		t.Fatal(err)
	}
	if s.Wrong != 5 || s.Operations != sent-5 || s.Problem == "" {
		t.Errorf("of %d messages 5 were lost; got %+v", sent, s)
	}
}

func TestAFailedStreamIsWrong(t *testing.T) {
	c := &Client{Push: func(int, int) (*Pushing, error) { return nil, errWrong }}
	s, err := c.push(time.Millisecond, 3, 10)
	if err != nil || s.Wrong != 3 || s.Problem != errWrong.Error() {
		t.Errorf("%+v, %v", s, err)
	}
}
