package sabir_test

import (
	"context"
	"slices"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/secret"
)

// offering is an extension with a service of its own.
type offering struct{ *recorder }

func (o offering) Services() []sabir.Servable {
	s := sabir.NewService("$recorder")
	sabir.Handle(s, "notes", func(context.Context, sabir.Empty) (int, error) { return len(o.received), nil })
	return []sabir.Servable{s}
}

func TestTheServicesThatAnExtensionOffersRunWithItsNode(t *testing.T) {
	r := newRecorder()
	user := sabir.NewService("user", sabir.DependsOn(sabir.ServiceName("$recorder"))) // so it starts after that
	n := sabir.NewNode(sabir.WithExtension(offering{r}), sabir.Serve(user))
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if notes, err := sabir.Call[int](t.Context(), n, "$recorder.notes", sabir.Empty{}); err != nil || notes != 1 {
		t.Errorf("%d notes, %v: want that of the start", notes, err)
	}
	if err := n.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// bracket is an extension without a topic that notes its start and its stop.
type bracket struct {
	notes *[]string
	name  string
}

func (b bracket) Name() string { return b.name }

func (b bracket) Start(_ context.Context, n *sabir.Node) error {
	*b.notes = append(*b.notes, b.name+" starts at "+n.JoinAddress())
	return nil
}

func (b bracket) Stop(context.Context) error {
	*b.notes = append(*b.notes, b.name+" stops")
	return nil
}

func TestAnExtensionWithoutATopicStartsAndStopsWithItsNode(t *testing.T) {
	var notes []string
	hook := func(what string) func(context.Context) error {
		return func(context.Context) error {
			notes = append(notes, what)
			return nil
		}
	}
	s := sabir.NewService("s", sabir.OnStart(hook("service starts")), sabir.OnStop(hook("service stops")))
	address := "mem://" + t.Name()
	n := startNode(t, sabir.WithExtension(bracket{&notes, "first"}), sabir.WithExtension(bracket{&notes, "second"}), sabir.Serve(s), sabir.Join(address))
	stopIfRunning(t, n)
	want := []string{"first starts at " + address, "second starts at " + address, "service starts", "service stops", "second stops", "first stops"}
	if !slices.Equal(notes, want) {
		t.Errorf("got %q, want %q", notes, want)
	}
}

func TestNodesWithTheSameKeyShareASecretWhichIsNotTheKey(t *testing.T) {
	const key = "0123456789abcdef"
	keyed := func(id string) string {
		return string(startNode(t, sabir.NodeID(id), sabir.Join("mem://"+t.Name()+"-keyed", cluster.Config{Key: secret.New(key)})).ClusterSecret().Bytes())
	}
	a, b := keyed("a"), keyed("b")
	if a == "" || a != b || a == key {
		t.Errorf("the secrets of one key are %q and %q", a, b)
	}
	open, alone := startNode(t, sabir.Join("mem://"+t.Name())), startNode(t)
	if !open.ClusterSecret().None() || !alone.ClusterSecret().None() || alone.JoinAddress() != "" {
		t.Errorf("without a key %q, outside a cluster %q at %q", open.ClusterSecret(), alone.ClusterSecret(), alone.JoinAddress())
	}
}
