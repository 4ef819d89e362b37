package actor_test

import (
	"context"
	"fmt"
	"runtime"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

type greet struct{ Name string }

type greeter struct{}

func (*greeter) Greet(_ *actor.Process, m greet) (string, error) { return "Hello, " + m.Name, nil }

var greeterBehavior = actor.Define[greeter, struct{}]("greeter", nil, actor.OnCall((*greeter).Greet))

// Two nodes of one cluster. One starts a process on the other, which permits it, and calls it like one of its own.
func ExampleSystem_Option() {
	ctx := context.Background()
	there, here := actor.NewSystem(actor.Config{}), actor.NewSystem(actor.Config{})
	one := sabir.NewNode(sabir.NodeID("one"), there.Option(), sabir.Join("mem://greetings"))
	two := sabir.NewNode(sabir.NodeID("two"), here.Option(), sabir.Join("mem://greetings"))
	for _, n := range []*sabir.Node{one, two} {
		if err := n.Start(ctx); err != nil {
			fmt.Println(err)
			return
		}
		defer n.Stop(ctx)
	}
	greeterBehavior.AllowRemoteSpawn(there, "two")

	for len(here.Nodes()) == 0 { // a process would wait for a NodeChange, see MonitorNode
		runtime.Gosched()
	}
	pid, err := actor.Spawn(here, greeterBehavior, struct{}{}, actor.SpawnConfig{Node: "one"})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := actor.Call[string](ctx, here, pid, greet{"Ada"})
	fmt.Println(text, err, pid.PID().Node())
	// Output: Hello, Ada <nil> one
}
