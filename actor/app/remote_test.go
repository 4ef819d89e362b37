package app_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/app"
	_ "github.com/sabir-go/sabir/transport/mem"
)

// twoNodes is the systems of two nodes of one cluster: near, and far, whose world is returned.
func twoNodes(t *testing.T) (near *actor.System, far *world) {
	t.Helper()
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	address := "mem://" + t.Name()
	var systems []*actor.System
	for _, id := range []string{"far", "near"} {
		s := actor.NewSystem(actor.Config{Logger: quiet})
		n := sabir.NewNode(sabir.NodeID(id), sabir.Logger(quiet), s.Option(), sabir.Join(address))
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		address = n.Info().Addr
		systems = append(systems, s)
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
			defer cancel()
			if err := n.Stop(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	far = &world{t, systems[0], &buffer{}, make(chan string, 1000)}
	far.control(app.Config{Apps: []app.App{far.app("a"), far.bare("b", "temporary")}})
	for end := time.Now().Add(testTimeout); ; { // until the nodes know of each other
		_, err := app.On(systems[1], "far").List(t.Context())
		if !errors.Is(err, actor.ErrNoConnection) {
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	return systems[1], far
}

func TestApplicationIsControlledFromAnotherNodeThatIsPermitted(t *testing.T) {
	near, far := twoNodes(t)
	app.AllowRemoteControl(far.system, "near")
	ctx := t.Context()
	if err := app.On(near, "far").Start(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	far.expect("start b")
	list, err := app.On(near, "far").List(ctx)
	if err != nil || len(list) != 2 || list[0].Running || !list[1].Running || list[1].PID.Node() != "far" {
		t.Error(list, err)
	}
	if err := app.On(near, "far").SetEnv(ctx, "b", "k", "v"); err != nil {
		t.Error(err)
	}
	if err := app.On(near, "far").SetLogLevel(ctx, "b", slog.LevelDebug); err != nil {
		t.Error(err)
	}
	far.inside(far.info("b").PID, func(p *actor.Process) {
		if app.Env(p, "k", "") != "v" || !p.Log().Enabled(ctx, slog.LevelDebug) {
			t.Error("neither the environment nor the level came")
		}
	})
	if err := app.On(near, "far").SetEnv(ctx, "b", "k", 5); !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "ApplicationConfig", "")) {
		t.Error("a number was sent:", err)
	}
	if err := app.On(near, "far").Stop(ctx, "b"); err != nil {
		t.Error(err)
	}
	far.expect("end b")
	if err := app.On(near, "far").Start(ctx, "x"); !errors.Is(err, sabir.NewError(sabir.CodeNotFound, "NoApplication", "")) {
		t.Error(err)
	}
}

func TestApplicationIsNotControlledFromAnotherNodeWithoutPermission(t *testing.T) {
	near, far := twoNodes(t)
	if err := app.On(near, "far").Start(t.Context(), "a"); !errors.Is(err, actor.ErrNotPermitted) {
		t.Error(err)
	}
	if far.info("a").Running {
		t.Error("it was started")
	}
}

func TestApplicationOnAnUnknownNodeIsNotReached(t *testing.T) {
	w := newWorld(t)
	if err := app.On(w.system, "nowhere").Start(t.Context(), "a"); !errors.Is(err, actor.ErrNoConnection) {
		t.Error(err)
	}
}
