package grain_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
)

// Profile is the saved state of a user.
type Profile struct{ Visits int }

// User is the grain.
type User struct{ grain.State[Profile] }

type Visit struct{}

// Visit has saved when it answers.
func (u *User) Visit(p *actor.Process, _ Visit) (int, error) {
	u.Value.Visits++
	return u.Value.Visits, u.Save(p)
}

var users = grain.Define("user", grain.OnCall((*User).Visit))

func Example() {
	ctx := context.Background()
	system := actor.NewSystem(actor.Config{})
	defer system.Stop(ctx)
	grains := grain.New(system, grain.Config{Store: store.Memory()}, users)
	if err := grains.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer grains.Stop(ctx)

	for range 2 {
		n, err := grain.Call[int](ctx, system, users.Key("ada"), Visit{})
		fmt.Println(n, err)
	}
	// Output:
	// 1 <nil>
	// 2 <nil>
}
