package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/inspect"
	"github.com/sabir-go/sabir/actor/supervise"
	"github.com/sabir-go/sabir/web"
)

type clerk struct{}

type (
	stumble struct{}
	present struct{}
)

var clerks = actor.Define[clerk, struct{}]("shop.clerk", nil,
	actor.OnMessage(func(*clerk, *actor.Process, stumble) error { return errors.New("it stumbled") }),
	actor.OnCall(func(*clerk, *actor.Process, present) (bool, error) { return true, nil }))

// startOffice runs a node with a supervision tree, one of whose processes was restarted once, and a process without a
// supervisor.
func startOffice(t *testing.T, address string) *actor.System {
	t.Helper()
	system := actor.NewSystem(actor.Config{})
	startNode(t, sabir.NewNode(quiet(), sabir.NodeID("office-1"), system.Option(), sabir.HTTP(":0", web.With(web.Config{Operators: []string{web.ThisMachine}})), sabir.Join(address)))
	_, err := supervise.Spec(supervise.Config{Name: "office", Intensity: 3},
		supervise.Child{ID: "front", Start: clerks.Spec(struct{}{}, actor.SpawnConfig{Name: "front"})},
		supervise.Child{ID: "back", Start: supervise.Spec(supervise.Config{Name: "back"},
			supervise.Child{ID: "desk", Start: clerks.Spec(struct{}{}), Restart: "transient"},
			supervise.Child{ID: "till", Start: clerks.Spec(struct{}{}, actor.SpawnConfig{Name: "the till"})})},
	).Start(system)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := actor.Spawn(system, clerks, struct{}{}, actor.SpawnConfig{Name: "passer-by"}); err != nil {
		t.Fatal(err)
	}
	front, _ := system.Whereis("front")
	if err := actor.Send(system, front, stumble{}); err != nil {
		t.Fatal(err)
	}
	for now, there := front, true; !there || now == front; now, there = system.Whereis("front") { // until its supervisor has restarted it
		_, _ = supervise.At(system, actor.Name{Name: "office"}).Describe(t.Context())
	}
	return system
}

func TestProcessesDrawsTreesAndListsProcesses(t *testing.T) {
	const address = "mem://processes-command"
	count := startOffice(t, address).Count()
	startMember(t, "no-processes", address)
	for name, flags := range map[string][]string{"over HTTP": nil, "over links": {"--join", address}} {
		t.Run(name, func(t *testing.T) {
			for name, test := range map[string]struct {
				args []string
				want []string
				not  string
			}{
				"tree": {nil, []string{fmt.Sprintf("office-1 · %d processes · no message lost\n", count), "PROCESS  ", "office ", "supervisor, one-for-one",
					"├─ front ", "└─ back ", "   ├─ desk", "   └─ till (the till)", "shop.clerk", "no supervisor", "└─ passer-by"}, "more"},
				"depth":   {[]string{"--depth", "1"}, []string{"└─ back", "   └─ 2 more"}, "desk"},
				"flat":    {[]string{"--flat", "--sort", "name", "--limit", "2"}, []string{"NAME   ", "back", "front", fmt.Sprintf("and %d more\n", count-2)}, "office "},
				"match":   {[]string{"--match", "*till"}, []string{"the till  shop.clerk"}, "front"},
				"nobody":  {[]string{"--match", "unheard-of"}, []string{"no process is called like that"}, "NAME"},
				"by node": {[]string{"office-1"}, []string{"office-1 · "}, "\x1b"},
			} {
				t.Run(name, func(t *testing.T) {
					args := append(append([]string{"processes"}, test.args...), flags...)
					got := sabirRun(t, args...)
					if got.code != exitOK || got.errOut != "" || strings.Contains(got.out, test.not) {
						t.Errorf("%+v, want no %q", got, test.not)
					}
					for _, want := range test.want {
						if !strings.Contains(got.out, want) {
							t.Errorf("%q is not in:\n%s", want, got.out)
						}
					}
				})
			}
			tree := oneJSON[[]inspect.Trees](t, sabirRun(t, append([]string{"processes", "--json"}, flags...)...).out)
			if len(tree) != 1 || tree[0].Node != "office-1" || tree[0].Count != count || tree[0].Trees[0].Children[0].Restarts != 1 || tree[0].Unsupervised[0].Name != "passer-by" {
				t.Errorf("%+v", tree)
			}
			list := oneJSON[[]inspect.List](t, sabirRun(t, append([]string{"processes", "--flat", "--limit", "1", "--json"}, flags...)...).out)
			if len(list) != 1 || len(list[0].Processes) != 1 || list[0].More != count-1 {
				t.Errorf("%+v", list)
			}
		})
	}
	if got := sabirRun(t, "processes", "no-processes", "--join", address); got.code != exitFailed || !strings.Contains(got.errOut, "node no-processes has no processes") {
		t.Errorf("%+v", got)
	}
	if got := sabirRun(t, "processes", "office-2"); got.code != exitUsage || !strings.Contains(got.errOut, "this one is office-1") {
		t.Errorf("%+v", got)
	}
	if got := sabirRun(t, "__complete", "processes", "off"); !strings.Contains(got.out, "office-1") {
		t.Errorf("%+v", got)
	}
}

func TestProcessesRefusesWhatCannotBeMeant(t *testing.T) {
	for _, args := range [][]string{{"--sort", "size"}, {"--limit", "0"}, {"--limit", "1001"}, {"--depth", "21"}, {"a", "b"}} {
		if got := sabirRun(t, append([]string{"processes"}, args...)...); got.code != exitUsage || got.out != "" {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

func TestLostMessagesAreShown(t *testing.T) {
	system := actor.NewSystem(actor.Config{})
	startNode(t, sabir.NewNode(quiet(), system.Option(), sabir.HTTP(":0", web.With(web.Config{Operators: []string{web.ThisMachine}}))))
	pid, err := actor.Spawn(system, clerks, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	if err := actor.Send(system, pid, "nobody handles texts"); !errors.Is(err, actor.ErrNotHandled) {
		t.Fatal(err)
	}
	if _, err := actor.Call[bool](t.Context(), system, pid, present{}); err != nil {
		t.Fatal(err)
	}
	if got := sabirRun(t, "processes"); !strings.Contains(got.out, " · 1 message lost: 0 to nobody, 0 to full mailboxes, 1 not handled\n") {
		t.Errorf("%+v", got)
	}
}
