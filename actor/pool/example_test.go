package pool_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/pool"
)

type shouter struct{}

func (*shouter) Shout(_ *actor.Process, text string) (string, error) {
	return strings.ToUpper(text), nil
}

var shouterBehavior = actor.Define[shouter, struct{}]("shouter", nil, actor.OnCall((*shouter).Shout))

func Example() {
	ctx := context.Background()
	system := actor.NewSystem(actor.Config{})
	defer system.Stop(ctx)

	shouters, err := pool.Spec(shouterBehavior.Spec(struct{}{}), pool.Config{Size: 4}, actor.SpawnConfig{Name: "shouters"}).Start(system)
	if err != nil {
		log.Fatal(err)
	}
	loud, err := actor.Call[string](ctx, system, shouters, "hello")
	fmt.Println(loud, err)
	// Output: HELLO <nil>
}
