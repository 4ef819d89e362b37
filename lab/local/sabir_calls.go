package main

import (
	"context"
	"errors"
	"fmt"
	"github.com/sabir-go/sabir/policy"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/validate"

	"github.com/sabir-go/sabir/lab/child"
)

var sabirWorks = map[string]func(child.Order) (work, error){
	"call":              func(child.Order) (work, error) { return adding(nil, nil) },
	"empty":             emptyCalls,
	"middlewares":       throughMiddlewares,
	"middlewares bare":  func(child.Order) (work, error) { return adding(nil, nil) },
	"tracking without":  func(child.Order) (work, error) { return adding(nil, nil) },
	"tracking with":     tracked,
	"validator none":    func(child.Order) (work, error) { return unchecked(false) },
	"validator passes":  func(child.Order) (work, error) { return checked(false) },
	"validator fails":   func(child.Order) (work, error) { return checked(true) },
	"telemetry off":     func(child.Order) (work, error) { return adding(nil, nil) },
	"telemetry metrics": func(child.Order) (work, error) { return observed(true, false) },
	"telemetry tracing": func(child.Order) (work, error) { return observed(false, true) },
	"telemetry both":    func(child.Order) (work, error) { return observed(true, true) },
	"cache none":        func(child.Order) (work, error) { return asking(nil, nil) },
	"cache memory":      askingMemory,
	"cache keys":        askingKeys,
	"cache lru":         askingBounded,
	"cache redis":       askingRedis,
	"set-get memory":    setGetMemory,
	"set-get redis":     setGetRedis,
	"key dynamic":       func(child.Order) (work, error) { return keys() },
	"key static":        func(child.Order) (work, error) { return keys("id") },
	"clone without":     func(o child.Order) (work, error) { return found(o, policy.Clone{}, false) },
	"clone with":        clonedByJSON,
	"events":            emitting,
	"among actions":     amongActions,
	"among patterns":    amongPatterns(false),
	"among new names":   amongPatterns(true),
}

// adding calls an action by name.
func adding(serviceOptions []sabir.ServiceOption, nodeOptions []sabir.NodeOption) (work, error) {
	math := sabir.NewService("math", serviceOptions...)
	sabir.Handle(math, "add", add)
	node, stop, err := started(append(nodeOptions, sabir.Serve(math))...)
	if err != nil {
		return work{}, err
	}
	ctx := context.Background()
	return work{stop: stop, do: sums(func(in Pair) (int, error) {
		return sabir.Call[int](ctx, node, "math.add", in)
	})}, nil
}

var sabirBoundWorks = map[string]func(child.Order) (work, error){"call": bound}

// bound calls an action that is looked up once.
func bound(child.Order) (work, error) {
	math := sabir.NewService("math")
	sabir.Handle(math, "add", add)
	node, stop, err := started(sabir.Serve(math))
	if err != nil {
		return work{}, err
	}
	ctx, call := context.Background(), sabir.Bind[Pair, int](node, "math.add")
	return work{stop: stop, do: sums(func(in Pair) (int, error) { return call(ctx, in) })}, nil
}

func emptyCalls(child.Order) (work, error) {
	given := 0
	numbers := sabir.NewService("numbers")
	sabir.Handle(numbers, "next", func(context.Context, sabir.Empty) (int, error) { given++; return given, nil })
	node, stop, err := started(sabir.Serve(numbers))
	if err != nil {
		return work{}, err
	}
	ctx := context.Background()
	return work{stop: stop, do: counting(func() (int, error) {
		return sabir.Call[int](ctx, node, "numbers.next", sabir.Empty{})
	})}, nil
}

// throughMiddlewares counts how often they have let a call through.
func throughMiddlewares(o child.Order) (work, error) {
	passed := 0
	var all []sabir.Wrapper
	for i := range o.Size {
		all = append(all, sabir.Middleware{Name: fmt.Sprint("counting ", i), Local: func(_ *sabir.Action, next sabir.Handler) sabir.Handler {
			return func(ctx context.Context, r *sabir.Request) error {
				passed++
				return next(ctx, r)
			}
		}})
	}
	w, err := adding(nil, []sabir.NodeOption{sabir.Use(all...)})
	w.do = passing(w.do, &passed, o.Size)
	return w, err
}

// passing checks how much has passed the middlewares.
func passing(do func(n int) error, passed *int, each int) func(n int) error {
	return func(n int) error {
		before := *passed
		if err := do(n); err != nil {
			return err
		}
		if ran := *passed - before; ran != n*each {
			return fmt.Errorf("%d of %d middlewares ran", ran, n*each)
		}
		return nil
	}
}

// tracked calls a service that stops after its calls have ended.
func tracked(child.Order) (work, error) {
	return adding([]sabir.ServiceOption{sabir.OnStop(func(context.Context) error { return nil })}, nil)
}

// Person is the input that is validated.
type Person struct {
	Name string `json:"name" validate:"required,max=64"`
	Age  int    `json:"age" validate:"gte=0,lte=150"`
}

// AnyPerson is the same without rules.
type AnyPerson struct {
	Name string `json:"name"`
	Age  int    `json:"age"`
}

// validated asks an action that takes an In how old somebody will be.
func validated[In any](person func(name string, age int) In, ageOf func(In) int, fails bool) (work, error) {
	people := sabir.NewService("people")
	sabir.Handle(people, "later", func(_ context.Context, in In) (int, error) { return ageOf(in) + 1, nil })
	node, stop, err := started(sabir.Serve(people))
	if err != nil {
		return work{}, err
	}
	ctx := context.Background()
	return work{stop: stop, do: ages(fails, func(name string, age int) (int, error) {
		return sabir.Call[int](ctx, node, "people.later", person(name, age))
	}, isValidation)}, nil
}

func unchecked(fails bool) (work, error) {
	return validated(func(name string, age int) AnyPerson { return AnyPerson{name, age} }, func(in AnyPerson) int { return in.Age }, fails)
}

func checked(fails bool) (work, error) {
	return validated(func(name string, age int) Person { return Person{name, age} }, func(in Person) int { return in.Age }, fails)
}

func isValidation(err error) bool {
	e, ok := errors.AsType[*sabir.Error](err)
	if !ok || e.Code != sabir.CodeInvalidArgument {
		return false
	}
	fields, ok := e.Data.(validate.Errors)
	return ok && len(fields) == 1 && fields[0].Path == "age"
}

// ages asks for the age after 36, or for the one after 200, which no rule lets pass.
//
//go:noinline
func ages(fails bool, later func(name string, age int) (int, error), right func(error) bool) func(n int) error {
	age := 36
	if fails {
		age = 200
	}
	return func(n int) error {
		for range n {
			answer, err := later("Ada", age)
			switch {
			case fails && err == nil:
				return fmt.Errorf("an age of %d was answered with %d", age, answer)
			case fails && !right(err):
				return fmt.Errorf("an age of %d has another error: %w", age, err)
			case !fails && err != nil:
				return err
			case !fails && answer != age+1:
				return fmt.Errorf("an age of %d was answered with %d", age, answer)
			}
		}
		return nil
	}
}

var sabirProcessWorks = map[string]func(child.Order) (work, error){"call": processCalls}

type adder struct{}

func (*adder) Add(_ *actor.Process, in Pair) (int, error) { return in.A + in.B, nil }

var adders = actor.Define[adder, struct{}]("adder", nil, actor.OnCall((*adder).Add))

// processCalls asks another process for the sum.
func processCalls(child.Order) (work, error) {
	system := actor.NewSystem(actor.Config{Logger: quiet})
	pid, err := actor.Spawn(system, adders, struct{}{})
	if err != nil {
		return work{}, err
	}
	ctx := context.Background()
	return work{stop: func() { system.Stop(ctx) }, do: sums(func(in Pair) (int, error) {
		return actor.Call[int](ctx, system, pid, in)
	})}, nil
}
