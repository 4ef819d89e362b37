package meta_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/meta"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

func TestTheProcessOfADeviceThatHasEndedEndsThoughItsMailboxWasFull(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s := newSystem(t)
		finish, release := make(chan struct{}), make(chan struct{})
		pid, err := meta.Start(s, "press", meta.Device[int]{
			Run:    func(context.Context, meta.Meta) error { <-finish; return nil },
			Handle: func(*actor.Process, int) error { <-release; return nil },
		}, actor.SpawnConfig{Mailbox: 1})
		for err == nil {
			err = actor.Send(s, pid, 1)
		}
		if !errors.Is(err, actor.ErrMailboxFull) {
			t.Fatal(err)
		}
		watching := newOwner(t, s)
		watching.watches(pid)
		close(finish)
		synctest.Wait() // it has ended
		close(release)
		nextOf[actor.Down](t, watching.received)
	})
}
