package sabir_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/compilertest"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/race"
)

type (
	getPerson struct {
		ID string `json:"id" validate:"required"`
	}
	person struct {
		Name string `json:"name"`
	}
)

var (
	getContract     = sabir.NewAction[getPerson, person]("people.get", sabir.Doc("One person."))
	tailContract    = sabir.NewStream[int, string]("people.tail")
	createdContract = sabir.NewEvent[person]("people.created")
)

func getAda(_ context.Context, in getPerson) (person, error) { return person{"Ada " + in.ID}, nil }

func people(options ...sabir.ServiceOption) *sabir.Service {
	s := sabir.NewService("people", options...)
	getContract.Handle(s, getAda)
	tailContract.Handle(s, func(ctx context.Context, stream *sabir.Stream[int, string]) error {
		for n, err := range stream.All() {
			if err != nil {
				return err
			}
			if err := stream.Send(strconv.Itoa(n)); err != nil {
				return err
			}
		}
		return nil
	})
	return s
}

func TestAContractIsCalledWhereverItsActionIs(t *testing.T) {
	received := make(chan person, 1)
	s := people()
	createdContract.On(s, func(_ context.Context, p person) error { received <- p; return nil })
	here := start(t, sabir.NodeID("here"), sabir.Serve(s), sabir.Join("mem://contracts"))
	there := start(t, sabir.NodeID("there"), sabir.Join("mem://contracts"))
	if err := there.WaitFor(t.Context(), "people"); err != nil {
		t.Fatal(err)
	}
	for name, node := range map[string]*sabir.Node{"on its node": here, "on another": there, "and on the first again": here} {
		t.Run(name, func(t *testing.T) {
			if p, err := getContract.Call(t.Context(), node, getPerson{"1"}); err != nil || p.Name != "Ada 1" {
				t.Errorf("Call: %v, %v", p, err)
			}
			if p, err := getContract.Call(t.Context(), node, getPerson{"1"}, sabir.ToNode("here")); err != nil || p.Name != "Ada 1" {
				t.Errorf("Call with an option: %v, %v", p, err)
			}
			if p, err := getContract.Bind(node)(t.Context(), getPerson{"2"}); err != nil || p.Name != "Ada 2" {
				t.Errorf("Bind: %v, %v", p, err)
			}
			var one, two person
			if err := sabir.All(t.Context(), node, getContract.Into(&one, getPerson{"3"}), getContract.Into(&two, getPerson{"4"})); err != nil || one.Name != "Ada 3" || two.Name != "Ada 4" {
				t.Errorf("All: %v, %v, %v", one, two, err)
			}
			for text, err := range tailContract.Call(t.Context(), node, 7) {
				if err != nil || text != "7" {
					t.Errorf("stream: %q, %v", text, err)
				}
			}
			if err := createdContract.Emit(t.Context(), node, person{"Bob"}); err != nil {
				t.Fatal(err)
			}
			if p := <-received; p.Name != "Bob" {
				t.Errorf("event: %v", p)
			}
		})
	}
}

func TestAllJoinsTheErrorsAndKeepsTheAnswers(t *testing.T) {
	node := start(t, sabir.Serve(people()))
	var good, bad person
	err := sabir.All(t.Context(), node, getContract.Into(&bad, getPerson{}), getContract.Into(&good, getPerson{"1"}))
	if !errors.Is(err, sabir.ErrValidationFailed) || good.Name != "Ada 1" {
		t.Errorf("%v, %v", good, err)
	}
}

func TestTheOptionsOfAContractHoldWhereverItIsHandled(t *testing.T) {
	node := start(t, sabir.Serve(people()))
	if text := node.Action("people.get").Description; text != "One person." {
		t.Errorf("described as %q", text)
	}
	s := sabir.NewService("people")
	getContract.Handle(s, getAda, sabir.Doc("Here."))
	node = start(t, sabir.Serve(s))
	if text := node.Action("people.get").Description; text != "Here." {
		t.Errorf("with an option of its own it is described as %q", text)
	}
}

func TestAContractReachesTheVersionThatItsNameReaches(t *testing.T) {
	second := sabir.NewAction[getPerson, person]("v2.people.get")
	s := sabir.NewService("people", sabir.Version(2))
	second.Handle(s, getAda)
	node := start(t, sabir.Serve(s))
	for _, c := range []*sabir.Contract[getPerson, person]{second, getContract} {
		if p, err := c.Call(t.Context(), node, getPerson{"1"}); err != nil || p.Name != "Ada 1" {
			t.Errorf("%s: %v, %v", c.Name(), p, err)
		}
	}
}

func TestWhatIsWrongWithAContractIsSaidWhereItIsUsed(t *testing.T) {
	ofAnother := sabir.NewService("orders")
	getContract.Handle(ofAnother, getAda)
	badEvent := sabir.NewService("people")
	sabir.NewEvent[person]("people.*").On(badEvent, func(context.Context, person) error { return nil })
	unnamed := sabir.NewService("people")
	sabir.NewAction[getPerson, person]("").Handle(unnamed, getAda)
	for name, test := range map[string]struct {
		service *sabir.Service
		says    string
	}{
		"handled by another service": {ofAnother, `the contract "people.get" is not of service orders`},
		"an event that is a pattern": {badEvent, `the event name "people.*"`},
		"no name":                    {unnamed, "not made by sabir.NewAction"},
	} {
		t.Run(name, func(t *testing.T) {
			err := sabir.NewNode(sabir.Serve(test.service)).Start(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), "contract_test.go:") {
				t.Errorf("got %v", err)
			}
		})
	}
	node := start(t)
	if _, err := sabir.NewAction[getPerson, person]("no name").Call(t.Context(), node, getPerson{"1"}); err == nil || !strings.Contains(err.Error(), "no name of an action") {
		t.Errorf("a call by a bad name: %v", err)
	}
	if _, err := getContract.Call(t.Context(), people(), getPerson{"1"}); !errors.Is(err, sabir.ErrServiceUnavailable) {
		t.Errorf("a call through a service that no node serves: %v", err)
	}
}

// The compiler refuses each line of testdata/contract/wrong_types.go that ends in a comment, and no other.
func TestWrongTypesDoNotCompile(t *testing.T) {
	compilertest.Refuses(t, "testdata/contract", 8)
}

func BenchmarkContract(b *testing.B) {
	contract := sabir.NewAction[helloRequest, helloReply]("greeter.hello")
	node := start(b, sabir.Serve(greeter()))
	ctx, in := context.Background(), helloRequest{"Ada", 36}
	b.Run("call", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := contract.Call(ctx, node, in); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bind", func(b *testing.B) {
		hello := contract.Bind(node)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := hello(ctx, in); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestACallOfAContractAllocatesNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	contract := sabir.NewAction[helloRequest, helloReply]("greeter.hello")
	node := start(t, sabir.Serve(greeter()))
	ctx, in := context.Background(), helloRequest{"Ada", 36}
	if n := testing.AllocsPerRun(1000, func() {
		if _, err := contract.Call(ctx, node, in); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Types that share no field are no versions of each other: a call by name with one of them is an error, on both sides of it
// and of a link, not a zero value.
func TestTypesWithoutAFieldInCommonAreAnErrorOfTheCall(t *testing.T) {
	type order struct {
		Number int `json:"number"`
	}
	here := start(t, sabir.NodeID("here"), sabir.Serve(people()), sabir.Join("mem://unrelated"))
	there := start(t, sabir.NodeID("there"), sabir.Join("mem://unrelated"))
	if err := there.WaitFor(t.Context(), "people"); err != nil {
		t.Fatal(err)
	}
	for name, node := range map[string]*sabir.Node{"in process": here, "over a link": there} {
		t.Run(name, func(t *testing.T) {
			if out, err := sabir.Call[person](t.Context(), node, "people.get", order{7}); !errors.Is(err, sabir.ErrBadInput) || !strings.Contains(err.Error(), "no field in common") {
				t.Errorf("another input: %v, %v", out, err)
			}
			if out, err := sabir.Call[order](t.Context(), node, "people.get", getPerson{"1"}); !errors.Is(err, sabir.NewError(sabir.CodeInternal, errname.BadOutput, "")) || !strings.Contains(err.Error(), "no field in common") {
				t.Errorf("another output: %v, %v", out, err)
			}
			if _, err := sabir.Call[sabir.Empty](t.Context(), node, "people.get", getPerson{"1"}); err != nil {
				t.Errorf("an output that is not wanted: %v", err)
			}
		})
	}
}
