package actor_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/internal/memory"
)

func TestMessagesFromAnotherNodeTakeNoMoreMemoryThanAConnectionMay(t *testing.T) {
	s := actor.NewSystem(actor.Config{Logger: quiet})
	n := sabir.NewNode(sabir.NodeID("b"), sabir.Logger(quiet), s.Option(), sabir.Join("mem://"+t.Name()), sabir.Limits{NodeBuffers: 8 << 20, ConnectionBuffers: 1 << 20})
	if err := n.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	b := member{s, n}
	t.Cleanup(b.stop)
	a := startMember(t, "a", n.Info().Addr)
	a.awaitNode(t, "b")
	to, other := b.witness(t), b.witness(t)
	stands, release := make(chan struct{}), make(chan struct{})
	go actor.Call[sabir.Empty](context.Background(), b, to.pid, do{func(*actor.Process) error {
		close(stands)
		<-release
		return nil
	}})
	<-stands
	long := strings.Repeat("x", 200<<10)
	for i := range 5 {
		if err := actor.SendConfirmed(t.Context(), a, to.pid, item{Seq: i, Text: long}); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := actor.SendConfirmed(t.Context(), a, to.pid, item{Text: long}); !errors.Is(err, actor.ErrMailboxFull) {
		t.Errorf("with a mebibyte in the mailbox: %v", err)
	}
	if _, err := actor.Call[echo](t.Context(), a, to.pid, echo{long}); !errors.Is(err, actor.ErrMailboxFull) {
		t.Errorf("a call: %v", err)
	}
	before := s.Stats().Overflowed
	if err := actor.Send(a, to.pid, item{Text: long}); err != nil {
		t.Fatal(err)
	}
	if err := actor.SendConfirmed(t.Context(), a, other.pid, item{Seq: 7}); err != nil {
		t.Errorf("a small one to another process: %v", err)
	}
	if got := s.Stats().Overflowed; got != before+1 {
		t.Errorf("%d are counted as dropped, not %d", got, before+1)
	}
	close(release)
	for i := range 5 {
		if got := nextOf[item](t, to); got.Seq != i {
			t.Errorf("%d came, not %d", got.Seq, i)
		}
	}
	for memory.OfNode(n).Usage().Bytes > 0 { // what is handled is given back after its handler
		runtime.Gosched()
	}
	if err := actor.SendConfirmed(t.Context(), a, to.pid, item{Seq: 5, Text: long}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
