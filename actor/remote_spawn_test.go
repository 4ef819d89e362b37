package actor_test

import (
	"errors"
	"testing"

	"github.com/sabir-go/sabir/actor"
)

type childArgs struct {
	Parent actor.PID
	Fail   bool
}

type remoteChild struct{}

func (*remoteChild) Init(p *actor.Process, args childArgs) error {
	if args.Fail {
		return errRefused
	}
	return actor.Send(p, args.Parent, holder{Of: p.PID()})
}

func (*remoteChild) StopSelf(*actor.Process, stopSelf) error { return errRefused }

var (
	childBehavior  = actor.Define("child", (*remoteChild).Init, actor.OnMessage((*remoteChild).StopSelf))
	secretBehavior = actor.Define("secret", (*remoteChild).Init)
)

func TestAPermittedBehaviourStartsOnAnotherNode(t *testing.T) {
	overNetworks(t, func(t *testing.T, address string) {
		m := joinMembers(t, address, "a", "b")
		a, b := m[0], m[1]
		childBehavior.AllowRemoteSpawn(b.System, "a")
		parent := a.witness(t)
		pid, err := actor.Spawn(a, childBehavior, childArgs{Parent: parent.pid}, actor.SpawnConfig{Node: "b", Name: "kid"})
		if err != nil {
			t.Fatal(err)
		}
		if got := nextOf[from](t, parent); pid.PID().Node() != "b" || !b.Alive(pid.PID()) || got.Sender != pid.PID() {
			t.Errorf("%s was started, %+v came", pid, got)
		}
		if got, ok := b.Whereis("kid"); !ok || got != pid.PID() {
			t.Errorf("the name is that of %s", got)
		}
		_, err = actor.Spawn(a, childBehavior, childArgs{Parent: parent.pid}, actor.SpawnConfig{Node: "b", Name: "kid"})
		wantError(t, err, actor.ErrNameTaken)
		_, err = actor.Spawn(a, childBehavior, childArgs{Fail: true}, actor.SpawnConfig{Node: "b"})
		wantError(t, err, errRefused)
	})
}

func TestABehaviourThatIsNotPermittedDoesNotStart(t *testing.T) {
	m := joinMembers(t, "mem://"+t.Name(), "a", "b")
	childBehavior.AllowRemoteSpawn(m[1].System, "c", "d")
	for _, b := range []*actor.Behavior[remoteChild, childArgs]{childBehavior, secretBehavior} {
		_, err := actor.Spawn(m[0], b, childArgs{}, actor.SpawnConfig{Node: "b", Name: "kid"})
		wantError(t, err, actor.ErrNotPermitted)
	}
	_, err := actor.Spawn(m[0], childBehavior, childArgs{}, actor.SpawnConfig{Node: "nowhere"})
	wantError(t, err, actor.ErrNoConnection)
	if pid, ok := m[1].Whereis("kid"); ok {
		t.Errorf("%s was started", pid)
	}
}

func TestAProcessStartedLinkedOnAnotherNodeIsLinked(t *testing.T) {
	overNetworks(t, func(t *testing.T, address string) {
		m := joinMembers(t, address, "a", "b")
		a, b := m[0], m[1]
		childBehavior.AllowRemoteSpawn(b.System)
		parent := a.witness(t)
		spawn := func(config ...actor.SpawnConfig) (pid actor.PID) {
			a.order(t, parent, do{func(p *actor.Process) (err error) {
				pid, err = childBehavior.Spec(childArgs{Parent: p.PID()}, append(config, actor.SpawnConfig{Node: "b"})...).Start(p)
				return err
			}})
			nextOf[from](t, parent)
			return pid
		}
		pid := spawn(actor.SpawnConfig{Linked: true})
		if err := actor.Send(a, pid, stopSelf{}); err != nil {
			t.Fatal(err)
		}
		exit := nextOf[actor.Exit](t, parent)
		if exit.From != pid {
			t.Errorf("the exit is %+v", exit)
		}
		wantError(t, exit.Reason, errRefused)

		pid = spawn(actor.SpawnConfig{Supervised: true})
		_ = actor.Kill(b, pid)
		exit, down := nextOf[actor.Exit](t, parent), nextOf[actor.Down](t, parent)
		if exit.From != pid || down.PID != pid || exit.Reason != error(actor.ErrKilled) || down.Reason != error(actor.ErrKilled) {
			t.Errorf("the exit is %+v, the down %+v", exit, down)
		}

		pid = spawn(actor.SpawnConfig{Linked: true})
		watcher := b.witness(t)
		b.order(t, watcher, do{func(p *actor.Process) error { p.Monitor(pid); return nil }})
		_ = actor.Kill(a, parent.pid)
		if down := nextOf[actor.Down](t, watcher); down.PID != pid || !errors.Is(down.Reason, actor.ErrKilled) {
			t.Errorf("the down is %+v", down)
		}
	})
}
