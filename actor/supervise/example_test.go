package supervise_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/supervise"
)

type account struct{ balance int }

type deposit struct{ amount int }

var errNegative = errors.New("nobody deposits less than nothing")

func (a *account) init(p *actor.Process, balance int) error {
	a.balance = balance
	return nil
}

func (a *account) deposit(p *actor.Process, d deposit) (int, error) {
	if d.amount < 0 {
		p.Stop(errNegative)
		return 0, errNegative
	}
	a.balance += d.amount
	return a.balance, nil
}

var accounts = actor.Define("account", (*account).init, actor.OnCall((*account).deposit))

func Example() {
	system := actor.NewSystem(actor.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	ctx := context.Background()
	defer system.Stop(ctx)

	bank, err := supervise.Spec(supervise.Config{Name: "bank", Intensity: 3, Period: 5 * time.Second},
		supervise.Child{ID: "savings", Start: accounts.Spec(100, actor.SpawnConfig{Name: "savings"})},
		supervise.Child{ID: "cash", Start: accounts.Spec(10, actor.SpawnConfig{Name: "cash"}), Restart: "transient"},
	).Start(system)
	if err != nil {
		fmt.Println(err)
		return
	}
	savings := actor.Name{Name: "savings"}
	fmt.Println(actor.Call[int](ctx, system, savings, deposit{5}))

	_, err = actor.Call[int](ctx, system, savings, deposit{-5}) // the account ends, and starts anew
	fmt.Println(err)
	for {
		if d, _ := supervise.At(system, bank).Describe(ctx); d.Children[0].Restarts == 1 {
			break
		}
	}
	fmt.Println(actor.Call[int](ctx, system, savings, deposit{1}))
	// Output:
	// 105 <nil>
	// nobody deposits less than nothing
	// 101 <nil>
}

func ExampleDynamic() {
	system := actor.NewSystem(actor.Config{})
	ctx := context.Background()
	defer system.Stop(ctx)

	bank, err := supervise.Dynamic(accounts, supervise.Config{}, supervise.Child{Restart: "temporary"}).Start(system)
	if err != nil {
		fmt.Println(err)
		return
	}
	for balance := range 3 {
		pid, err := supervise.StartOne(ctx, supervise.At(system, bank), balance)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(actor.Call[int](ctx, system, pid, deposit{10}))
	}
	d, _ := supervise.At(system, bank).Describe(ctx)
	fmt.Println(len(d.Children), "accounts")
	// Output:
	// 10 <nil>
	// 11 <nil>
	// 12 <nil>
	// 3 accounts
}

func ExampleSupervisor_Tree() {
	system := actor.NewSystem(actor.Config{})
	ctx := context.Background()
	defer system.Stop(ctx)

	bank, err := supervise.Spec(supervise.Config{Name: "bank"},
		supervise.Child{ID: "savings", Start: accounts.Spec(100)},
		supervise.Child{ID: "desks", Start: supervise.Spec(supervise.Config{Strategy: "rest-for-one"},
			supervise.Child{ID: "till", Start: accounts.Spec(1)},
		)},
	).Start(system)
	if err != nil {
		fmt.Println(err)
		return
	}
	tree, err := supervise.At(system, bank).Tree(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(pids.ReplaceAllString(tree.String(), "PID")) // they are others in each run
	// Output:
	// bank · supervisor, one-for-one · PID
	// ├─ savings · account · permanent · PID
	// └─ desks · supervisor, rest-for-one · permanent · PID
	//    └─ till · account · permanent · PID
}
