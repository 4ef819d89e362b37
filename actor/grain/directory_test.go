package grain

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor"
)

type plain struct{ State[struct{}] }

type ping struct{}

func (*plain) Ping(*actor.Process, ping) (bool, error) { return true, nil }

var plains = Define("plain", OnCall((*plain).Ping))

// testTimeout is the timeout of these tests for what must happen.
const testTimeout = time.Minute

func startGrains(t *testing.T, kinds ...Served) *Grains {
	t.Helper()
	system := actor.NewSystem(actor.Config{})
	g := New(system, Config{}, append(kinds, plains)...)
	if err := g.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		if err := errors.Join(g.Stop(ctx), system.Stop(ctx)); err != nil {
			t.Error(err)
		}
	})
	return g
}

// beginning returns when an activation of a grain is about to be put into its shard, which it is when next is called: that
// returns how it went.
func beginning(t *testing.T, g *Grains, of Address) (next func() error) {
	t.Helper()
	sh := g.directory.shard(of)
	sh.mu.RLock()
	came := make(chan error, 1)
	go func() {
		a, err := g.directory.enter(of, nil)
		if a != nil {
			a.unpin()
		}
		came <- err
	}()
	for end := time.Now().Add(testTimeout); sh.mu.TryRLock(); { // until the writer waits
		sh.mu.RUnlock()
		if time.Now().After(end) {
			t.Fatal("no activation has begun")
		}
	}
	return func() error {
		sh.mu.RUnlock()
		return <-came
	}
}

func TestAnActivationThatBeginsWhileItsOwnerChangesIsNotLeftBehind(t *testing.T) {
	g := startGrains(t)
	of := plains.Key("a")
	next := beginning(t, g, of)
	g.publish(map[string][]string{"other": {"plain"}})
	if err := next(); !moved(err) {
		t.Errorf("it is another node's by now: got %v", err)
	}
	if n := g.Stats().Active; n != 0 {
		t.Errorf("%d grains of the other node are active here", n)
	}
}

func TestStopWaitsForAnActivationThatBegins(t *testing.T) {
	g := startGrains(t)
	of := plains.Key("a")
	next := beginning(t, g, of)
	if _, err := actor.Call[struct{}](t.Context(), g.system, g.host, farewell{}); err != nil {
		t.Fatal(err)
	}
	err := next()
	select {
	case <-g.empty:
	case <-time.After(testTimeout):
		t.Error("nothing is active, and Stop would wait")
	}
	if n := g.Stats().Active; n != 0 || !moved(err) {
		t.Errorf("%d grains began after the last had gone: %v", n, err)
	}
}

func TestAnActivationThatWasRefusedDoesNotHoldUpStop(t *testing.T) {
	g := startGrains(t)
	k := g.kinds["plain"]
	spawn := k.spawn
	defer func() { k.spawn = spawn }()
	refused := errors.New("refused")
	k.spawn = func(*activation) (actor.PID, error) { // while it is counted, the node leaves
		if _, err := actor.Call[struct{}](t.Context(), g.system, g.host, farewell{}); err != nil {
			t.Error(err)
		}
		return actor.PID{}, refused
	}
	if _, err := g.directory.enter(plains.Key("a"), nil); !errors.Is(err, refused) {
		t.Fatal(err)
	}
	select {
	case <-g.empty:
	case <-time.After(testTimeout):
		t.Error("nothing is active, and Stop would wait")
	}
}

func TestTheHostAnswersWhatCameBeforeItsEnd(t *testing.T) {
	system := actor.NewSystem(actor.Config{})
	g := New(system, Config{}, plains)
	if err := g.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer system.Stop(context.Background()) // which ends the janitor
	defer bySystem.Delete(system)
	k := g.kinds["plain"]
	spawn := k.spawn
	defer func() { k.spawn = spawn }()
	busy, open := make(chan struct{}), make(chan struct{})
	k.spawn = func(a *activation) (actor.PID, error) {
		close(busy)
		<-open
		return actor.PID{}, errGrainMoved
	}
	failed := make(chan error, 2)
	callHost := func(key string) {
		_, err := actor.Call[bool](t.Context(), system, actor.Name{Name: hostName}, routed[ping]{Kind: "plain", Key: key})
		failed <- err
	}
	go callHost("first")
	<-busy
	g.publish(map[string][]string{"other": {"plain"}})
	ended := make(chan error, 1)
	go func() {
		_, err := actor.Call[struct{}](t.Context(), system, g.host, finish{})
		ended <- err
	}()
	for end := time.Now().Add(testTimeout); system.Waiting(g.host) < 1; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the order to end has not come")
		}
	}
	go callHost("second")
	for end := time.Now().Add(testTimeout); system.Waiting(g.host) < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the second call has not come")
		}
	}
	close(open)
	for range 2 {
		if err := <-failed; !moved(err) {
			t.Error("the caller gets no error where nothing was done:", err)
		}
	}
	if err := <-ended; err != nil {
		t.Error("the order to end is not answered:", err)
	}
	for end := time.Now().Add(testTimeout); system.Alive(g.host); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the host has not ended")
		}
	}
}
