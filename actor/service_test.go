package actor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/inspect"
	"github.com/sabir-go/sabir/actor/supervise"
)

// sitter is a process that does nothing until it is ended.
type sitter struct{}

type (
	nothingMuch struct{}
	fallOver    struct{}
	holdStill   struct{ started, until chan struct{} }
)

var sitting = actor.Define[sitter, string]("list.sitter", nil,
	actor.OnMessage(func(*sitter, *actor.Process, nothingMuch) error { return nil }),
	actor.OnMessage(func(*sitter, *actor.Process, fallOver) error { return errors.New("it fell over") }),
	actor.OnMessage(func(_ *sitter, _ *actor.Process, m holdStill) error {
		close(m.started)
		<-m.until
		return nil
	}))

func startQuiet(t *testing.T) *actor.System {
	t.Helper()
	s := actor.NewSystem(actor.Config{Logger: quiet})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// holdUp keeps a process in a callback for the length of a test, with so many messages waiting.
func holdUp(t *testing.T, s *actor.System, pid actor.PID, waiting int) {
	t.Helper()
	h := holdStill{make(chan struct{}), make(chan struct{})}
	t.Cleanup(func() { close(h.until) })
	must(t, actor.Send(s, pid, h))
	<-h.started
	for range waiting {
		must(t, actor.Send(s, pid, nothingMuch{}))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func spawnSitter(t *testing.T, s *actor.System, config ...actor.SpawnConfig) actor.PID {
	t.Helper()
	pid, err := actor.Spawn(s, sitting, "", config...)
	must(t, err)
	return pid.PID()
}

func TestAListHasTheFirstInItsOrderAndSaysHowManyMoreThereAre(t *testing.T) {
	s := startQuiet(t)
	oldest := spawnSitter(t, s)
	named := spawnSitter(t, s, actor.SpawnConfig{Name: "zoe"})
	first := spawnSitter(t, s, actor.SpawnConfig{Name: "ada"})
	for range 3000 {
		spawnSitter(t, s)
	}
	holdUp(t, s, named, 2)
	holdUp(t, s, first, 5)
	for name, test := range map[string]struct {
		query inspect.Query
		want  []actor.PID
		more  int
	}{
		"by messages waiting":       {inspect.Query{Limit: 2}, []actor.PID{first, named}, 3001},
		"by age":                    {inspect.Query{Sort: "age", Limit: 1}, []actor.PID{oldest}, 3002},
		"by name":                   {inspect.Query{Sort: "name", Limit: 2}, []actor.PID{first, named}, 3001},
		"a part of a name":          {inspect.Query{Match: "zo"}, []actor.PID{named}, 0},
		"a whole name with a *":     {inspect.Query{Match: "a*a"}, []actor.PID{first}, 0},
		"a * that is not the whole": {inspect.Query{Match: "z*o"}, nil, 0},
		"a PID":                     {inspect.Query{Match: oldest.String()}, []actor.PID{oldest}, 0},
		"a behaviour":               {inspect.Query{Match: "list.*", Limit: 1}, []actor.PID{first}, 3002},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := s.List(test.query)
			must(t, err)
			var pids []string
			for _, one := range got.Processes {
				pids = append(pids, one.PID)
			}
			if !slices.EqualFunc(pids, test.want, func(text string, pid actor.PID) bool { return text == pid.String() }) || got.More != test.more || got.Count != 3003 {
				t.Errorf("got %v and %d more of %d, want %v and %d", pids, got.More, got.Count, test.want, test.more)
			}
		})
	}
	if got, err := s.List(inspect.Query{Limit: 1e9}); err != nil || len(got.Processes) != 1000 || got.Processes[0].Waiting != 5 {
		t.Errorf("%d processes at once, %v", len(got.Processes), err)
	}
	if _, err := s.List(inspect.Query{Sort: "size"}); sabir.AsError(err).Code != sabir.CodeInvalidArgument {
		t.Errorf("sorted by size: %v", err)
	}
}

func TestATreeShowsSupervisorsTheirChildrenAndProcessesWithoutOne(t *testing.T) {
	s := startQuiet(t)
	_, err := supervise.Spec(supervise.Config{Name: "shop", Intensity: 3},
		supervise.Child{ID: "stock", Start: sitting.Spec("", actor.SpawnConfig{Name: "stock"})},
		supervise.Child{ID: "desks", Start: supervise.Dynamic(sitting, supervise.Config{Name: "desks"}, supervise.Child{})},
	).Start(s)
	must(t, err)
	for range 150 {
		_, err := supervise.StartOne(t.Context(), supervise.At(s, actor.Name{Name: "desks"}), "")
		must(t, err)
	}
	stock, _ := s.Whereis("stock")
	must(t, actor.Send(s, stock, fallOver{}))
	for again, there := stock, true; !there || again == stock; again, there = s.Whereis("stock") { // until its supervisor has restarted it
		_, err := supervise.At(s, actor.Name{Name: "shop"}).Describe(t.Context())
		must(t, err)
	}
	stranger := spawnSitter(t, s)

	got, err := s.Tree(t.Context(), inspect.Query{})
	must(t, err)
	if len(got.Trees) != 1 || got.More != 0 || got.Count != 154 || len(got.Unsupervised) != 1 || got.Unsupervised[0].PID != stranger.String() || got.MoreUnsupervised != 0 {
		t.Fatalf("%+v", got)
	}
	shop := got.Trees[0]
	if shop.Name != "shop" || shop.Strategy != "one-for-one" || len(shop.Children) != 2 {
		t.Fatalf("%+v", shop)
	}
	if c := shop.Children[0]; c.ID != "stock" || c.Restarts != 1 || c.Restart != "permanent" || c.State != "running" || c.Name != "stock" || c.Life == "" {
		t.Errorf("%+v", c)
	}
	if c := shop.Children[1]; c.ID != "desks" || c.Strategy != "dynamic" || len(c.Children) != 100 || c.Unlisted != 50 {
		t.Errorf("%d children and %d more", len(c.Children), c.Unlisted)
	}
	if got, err := s.Tree(t.Context(), inspect.Query{Limit: 3, Depth: 1}); err != nil || got.Trees[0].Children[1].Unlisted != 150 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestATreeSaysWhichSupervisorDoesNotAnswer(t *testing.T) {
	s := startQuiet(t)
	h := holdStill{make(chan struct{}), make(chan struct{})}
	stuck := actor.Define[sitter, struct{}]("list.stuck", func(*sitter, *actor.Process, struct{}) error {
		close(h.started)
		<-h.until
		return nil
	})
	_, err := supervise.Spec(supervise.Config{Name: "shop"}).Start(s)
	must(t, err)
	added := make(chan error, 1)
	go func() {
		_, err := supervise.At(s, actor.Name{Name: "shop"}).StartChild(context.Background(), supervise.Child{ID: "stuck", Start: stuck.Spec(struct{}{})})
		added <- err
	}()
	<-h.started
	got, err := s.Tree(t.Context(), inspect.Query{})
	close(h.until)
	must(t, err)
	must(t, <-added)
	if len(got.Trees) != 1 || got.Trees[0].Problem != "it does not answer" {
		t.Errorf("%+v", got.Trees)
	}
}

func TestANodeWithProcessesAnswersForThem(t *testing.T) {
	m := startMember(t, "shop-1", "mem://processes-service")
	for i := range 3 {
		spawnSitter(t, m.System, actor.SpawnConfig{Name: fmt.Sprintf("desk-%d", i)})
	}
	answer, err := sabir.CallJSON(t.Context(), m.node, "$processes.list", []byte(`{"sort":"name","limit":2,"match":"desk"}`))
	must(t, err)
	var list inspect.List
	must(t, json.Unmarshal(answer, &list))
	if list.Node != "shop-1" || list.Count != 3 || len(list.Processes) != 2 || list.More != 1 || list.Processes[1].Name != "desk-1" {
		t.Errorf("%s", answer)
	}
	tree, err := sabir.Call[inspect.Trees](t.Context(), m.node, "$processes.tree", inspect.Query{})
	if err != nil || len(tree.Unsupervised) != 3 || len(tree.Trees) != 0 {
		t.Errorf("%+v, %v", tree, err)
	}
	if _, err = sabir.CallJSON(t.Context(), m.node, "$processes.list", []byte(`{"sort":"size"}`)); err == nil || !strings.Contains(err.Error(), "size") {
		t.Error(err)
	}
}
