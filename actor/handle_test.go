package actor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

type (
	visit struct {
		Name string `json:"name" validate:"required"`
	}
	visited struct {
		Count   int    `json:"count"`
		Request string `json:"request"` // id, as the service that the process calls sees it
		Limited bool   `json:"limited"` // it sees a deadline
	}
)

// register counts visits. It asks a service whether a name may come in.
type register struct{ count int }

func (r *register) Visit(p *actor.Process, in visit) (visited, error) {
	seen, err := sabir.Call[visited](p.Context(), p.Node(), "door.check", in)
	if err != nil {
		return visited{}, err
	}
	r.count++
	seen.Count = r.count
	return seen, nil
}

var errNotWelcome = sabir.NewError(sabir.CodePermissionDenied, "NotWelcome", "that name may not come in")

var registers = actor.Define[register, struct{}]("register", nil, actor.OnCall((*register).Visit))

// doorAndRegister runs a service that a process answers, which calls another service.
func doorAndRegister(t *testing.T) *sabir.Node {
	system := actor.NewSystem(actor.Config{Logger: quiet})
	door := sabir.NewService("door")
	sabir.Handle(door, "check", func(ctx context.Context, in visit) (visited, error) {
		if in.Name == "Eve" {
			return visited{}, errNotWelcome
		}
		_, limited := ctx.Deadline()
		return visited{Request: sabir.InfoFromContext(ctx).RequestID, Limited: limited}, nil
	})
	hotel := sabir.NewService("hotel")
	actor.ServeAction[visit, visited](hotel, "visit", system, actor.Name{Name: "register"})
	node := sabir.NewNode(sabir.NodeID("hotel"), sabir.Logger(quiet), system.Option(), sabir.Serve(door, hotel))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Stop(context.Background()) })
	if _, err := actor.Spawn(system, registers, struct{}{}, actor.SpawnConfig{Name: "register"}); err != nil {
		t.Fatal(err)
	}
	return node
}

func TestAProcessAnswersAnActionAndCallsServicesWithTheCallersContext(t *testing.T) {
	node := doorAndRegister(t)
	ctx, cancel := context.WithTimeout(sabir.WithRequestID(t.Context(), "r-1"), time.Minute)
	defer cancel()
	for want := range 2 {
		got, err := sabir.Call[visited](ctx, node, "hotel.visit", visit{"Ada"})
		if err != nil || got != (visited{want + 1, "r-1", true}) {
			t.Fatalf("%+v, %v", got, err)
		}
	}
}

func TestTheErrorOfAServiceGoesThroughAProcessToTheCaller(t *testing.T) {
	node := doorAndRegister(t)
	if _, err := sabir.Call[visited](t.Context(), node, "hotel.visit", visit{"Eve"}); !errors.Is(err, errNotWelcome) {
		t.Fatal(err)
	}
}

func TestTheInputOfAnActionIsValidatedBeforeItsProcessSeesIt(t *testing.T) {
	node := doorAndRegister(t)
	if _, err := sabir.Call[visited](t.Context(), node, "hotel.visit", visit{}); sabir.AsError(err).Code != sabir.CodeInvalidArgument {
		t.Fatal(err)
	}
	if got, err := sabir.Call[visited](t.Context(), node, "hotel.visit", visit{"Ada"}); err != nil || got.Count != 1 {
		t.Fatal(got, err)
	}
}

func TestAnActionWhoseProcessIsGoneFailsWithNoProcess(t *testing.T) {
	system := actor.NewSystem(actor.Config{Logger: quiet})
	service := sabir.NewService("nobody")
	actor.ServeAction[visit, visited](service, "home", system, actor.Name{Name: "nobody"})
	node := sabir.NewNode(sabir.Logger(quiet), system.Option(), sabir.Serve(service))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Stop(context.Background()) })
	if _, err := sabir.Call[visited](t.Context(), node, "nobody.home", visit{"Ada"}); !errors.Is(err, actor.ErrNoProcess) {
		t.Fatal(err)
	}
}
