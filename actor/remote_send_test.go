package actor_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/actor"
)

func TestMessagesToAProcessOfAnotherNodeArriveInTheOrderInWhichTheyWereSent(t *testing.T) {
	overNetworks(t, func(t *testing.T, address string) {
		const n, senders = 5000, 3
		m := joinMembers(t, address, "a", "b")
		a, b := m[0], m[1]
		to := b.witness(t)
		for range senders {
			if err := actor.Send(a, a.witness(t).pid, sendAll{To: to.pid, N: n}); err != nil {
				t.Fatal(err)
			}
		}
		// Each sender's numbers come in order, so every number comes, and none before the one below it.
		seen := make([]int, n)
		for range n * senders {
			i := nextOf[item](t, to).Seq
			if i > 0 && seen[i] >= seen[i-1] {
				t.Fatalf("%d came before %d", i, i-1)
			}
			seen[i]++
		}
	})
}

func TestMessagesKeepWhatIsInThem(t *testing.T) {
	overNetworks(t, func(t *testing.T, address string) {
		m := joinMembers(t, address, "a", "b")
		a, b := m[0], m[1]
		to, other := b.witness(t), a.witness(t)
		h, err := actor.Call[holder](t.Context(), a, other.pid, makeAlias{})
		if err != nil {
			t.Fatal(err)
		}
		a.order(t, other, do{func(p *actor.Process) error { return actor.Send(p, to.pid, h) }})
		got := nextOf[from](t, to)
		if got.Sender != other.pid || got.What != h {
			t.Fatalf("%+v of %s came, not %+v of %s", got.What, got.Sender, h, other.pid)
		}
		for _, back := range []error{
			actor.Send(b, got.What.(holder).Of, item{Seq: 1}),
			actor.Send(b, got.What.(holder).Alias, item{Seq: 2}),
		} {
			if back != nil {
				t.Fatal(back)
			}
		}
		for i := range 2 {
			if seq := nextOf[item](t, other).Seq; seq != i+1 {
				t.Errorf("%d came back", seq)
			}
		}
	})
}

func TestANameOnAnotherNodeIsFoundThere(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	a, b := m[0], m[1]
	to := b.witness(t, actor.SpawnConfig{Name: "box"})
	name := actor.Name{Name: "box", Node: "b"}
	if err := actor.Send(a, name, item{Seq: 7}); err != nil {
		t.Fatal(err)
	}
	if got := nextOf[item](t, to); got.Seq != 7 {
		t.Errorf("%+v came", got)
	}
	got, err := actor.Call[echo](t.Context(), a, name, echo{"hello"})
	if err != nil || got.Text != "hello" {
		t.Error(got, err)
	}
	_, err = actor.Call[echo](t.Context(), a, actor.Name{Name: "nobody", Node: "b"}, echo{"hello"})
	wantError(t, err, actor.ErrNoProcess)
	wantError(t, actor.SendConfirmed(t.Context(), a, actor.Name{Name: "nobody", Node: "b"}, item{}), actor.ErrNoProcess)
	wantError(t, actor.Send(a, actor.Name{Name: "box", Node: "c"}, item{}), actor.ErrNoConnection)
}

func TestUrgentMessagesOvertakeOthersOnAnotherNode(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	a, b := m[0], m[1]
	to, sender := b.witness(t), a.witness(t)
	release, started := make(chan struct{}), make(chan struct{})
	go func() {
		_, _ = actor.Call[struct{}](t.Context(), b, to.pid, do{func(*actor.Process) error { close(started); <-release; return nil }})
	}()
	<-started
	a.order(t, sender, do{func(p *actor.Process) error {
		for i, queue := range []actor.Priority{actor.PriorityLog, actor.PriorityNormal, actor.PrioritySystem, actor.PriorityUrgent} {
			if err := actor.SendPriority(p, to.pid, queue, item{Seq: i}); err != nil {
				return err
			}
		}
		return actor.SendConfirmed(t.Context(), p, to.pid, item{Seq: 4})
	}})
	close(release)
	var got []int
	for range 5 {
		got = append(got, nextOf[item](t, to).Seq)
	}
	if fmt.Sprint(got) != "[3 2 1 4 0]" {
		t.Errorf("they came as %v", got)
	}
}

func TestLargeMessagesKeepTheirPlaceAmongSmallOnes(t *testing.T) {
	overNetworks(t, func(t *testing.T, address string) {
		m := joinMembers(t, address, "a", "b")
		a, b := m[0], m[1]
		to := b.witness(t)
		sizes := []int{1, 200, 59 << 10, 1, 64 << 10, 3, 3 << 20, 70 << 10, 70 << 10, 5, 1 << 20, 0}
		a.inProcess(t, func(p *actor.Process) error {
			for i, size := range sizes {
				if err := actor.Send(p, to.pid, item{Seq: i, Text: strings.Repeat("x", size)}); err != nil {
					return err
				}
			}
			return nil
		})
		for i, size := range sizes {
			if got := nextOf[item](t, to); got.Seq != i || len(got.Text) != size {
				t.Fatalf("message %d of %d bytes came instead of %d of %d", got.Seq, len(got.Text), i, size)
			}
		}
	})
}

func TestAnImportantMessageIsKnownToLieInTheMailboxOrRefused(t *testing.T) {
	overNetworks(t, func(t *testing.T, address string) {
		m := joinMembers(t, address, "a", "b")
		a, b := m[0], m[1]
		to := b.witness(t)
		if err := actor.SendConfirmed(t.Context(), a, to.pid, item{Seq: 1}); err != nil {
			t.Fatal(err)
		}
		if got := nextOf[item](t, to); got.Seq != 1 {
			t.Error(got)
		}

		full := b.witness(t, actor.SpawnConfig{Mailbox: 1, Overflow: actor.Wait})
		release, started := make(chan struct{}), make(chan struct{})
		go func() {
			_, _ = actor.Call[struct{}](t.Context(), b, full.pid, do{func(*actor.Process) error { close(started); <-release; return nil }})
		}()
		<-started
		var err error
		for i := 0; i < 3 && err == nil; i++ { // the call that is being handled may count
			err = actor.SendConfirmed(t.Context(), a, full.pid, item{})
		}
		wantError(t, err, actor.ErrMailboxFull)
		close(release)

		_ = actor.Kill(b, to.pid)
		for b.Alive(to.pid) {
			runtime.Gosched()
		}
		wantError(t, actor.SendConfirmed(t.Context(), a, to.pid, item{}), actor.ErrNoProcess)
	})
}

func TestEachImportantMessageThatIsConfirmedIsHandledOnAnotherNodeByEachAddress(t *testing.T) {
	for _, rule := range []actor.Overflow{actor.Reject, actor.DropNewest, actor.Wait} {
		t.Run(rule.String(), func(t *testing.T) {
			m := joinMembers(t, fmt.Sprintf("mem://important%d", rule), "a", "b")
			a, b := m[0], m[1]
			to := b.witness(t, actor.SpawnConfig{Mailbox: 10, Overflow: rule, Name: "full"})
			release, started, alias := make(chan struct{}), make(chan struct{}), make(chan actor.Alias, 1)
			go func() {
				_, _ = actor.Call[struct{}](t.Context(), b, to.pid, do{func(p *actor.Process) error {
					made, err := p.NewAlias()
					alias <- made
					close(started)
					<-release
					return err
				}})
			}()
			<-started
			sends := []func(item) error{
				func(m item) error { return actor.SendConfirmed(t.Context(), a, to.pid, m) },
				func(m item) error { return actor.SendConfirmed(t.Context(), a, actor.Name{Name: "full", Node: "b"}, m) },
			}
			if made := <-alias; made != (actor.Alias{}) {
				sends = append(sends, func(m item) error { return actor.SendConfirmed(t.Context(), a, made, m) })
			}
			var confirmed []int
			for i := range 51 {
				err := sends[i%len(sends)](item{Seq: i})
				if err == nil {
					confirmed = append(confirmed, i)
				} else {
					wantError(t, err, actor.ErrMailboxFull)
				}
			}
			close(release)
			for _, want := range confirmed {
				if got := nextOf[item](t, to); got.Seq != want {
					t.Fatalf("message %d came, and %d was confirmed", got.Seq, want)
				}
			}
			if lost := b.Stats(); len(confirmed) < 9 || lost.Overflowed != int64(51-len(confirmed)) {
				t.Errorf("%d were confirmed, and %d lost", len(confirmed), lost.Overflowed)
			}
		})
	}
}

func TestMessagesThatNothingCanReadAreCountedAndCallsRefused(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	a, b := m[0], m[1]
	to := b.witness(t)
	actor.Register[neverHandled]()
	for range 3 {
		if err := actor.Send(a, to.pid, unheardOf{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := actor.Send(a, to.pid, neverHandled{}); err != nil {
		t.Fatal(err)
	}
	_, err := actor.Call[item](t.Context(), a, to.pid, unheardOf{}) // also waits until the messages have come
	wantError(t, err, actor.ErrNotHandled)
	_, err = actor.Call[item](t.Context(), a, to.pid, neverHandled{})
	wantError(t, err, actor.ErrNotHandled)
	if lost := b.Stats().NotHandled; lost != 4 {
		t.Errorf("%d messages are counted as not handled, not 4", lost)
	}
	wantError(t, actor.SendConfirmed(t.Context(), a, to.pid, unheardOf{}), actor.ErrNotHandled)
	wantError(t, actor.SendConfirmed(t.Context(), a, to.pid, neverHandled{}), actor.ErrNotHandled)
}

func TestARefReachesAProcessOfAnotherNode(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	a, b := m[0], m[1]
	to := b.witness(t, actor.SpawnConfig{Name: "witness"})
	for name, ref := range map[string]actor.Ref[witness]{
		"of a PID":  actor.RefTo[witness](to.pid),
		"of a name": actor.RefTo[witness](actor.Name{Name: "witness", Node: "b"}),
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := actor.Ask(t.Context(), a, ref, (*witness).Echo, echo{"hi"}); err != nil || got.Text != "hi" {
				t.Errorf("asked: %v, %v", got, err)
			}
		})
	}
}

func TestWhatHasNoFormOnTheWireIsRefusedAtItsSender(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	a, b := m[0], m[1]
	to := b.witness(t)
	type channel struct{ C chan int }
	wantError(t, actor.Send(a, to.pid, channel{}), actor.ErrNoWireForm)
	wantError(t, actor.SendConfirmed(t.Context(), a, to.pid, channel{}), actor.ErrNoWireForm)
	_, err := actor.Call[item](t.Context(), a, to.pid, channel{})
	wantError(t, err, actor.ErrNoWireForm)
	_, err = actor.Call[channels](t.Context(), a, to.pid, asksChannels{})
	wantError(t, err, actor.ErrNoWireForm)
}
