package sabir_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/introspect"
)

type (
	findUser  struct{ ID string }
	foundUser struct{ Name string }
	findByKey struct{ Key string }
)

var (
	findContract  = sabir.NewAction[findUser, foundUser]("users.find")
	otherContract = sabir.NewAction[findByKey, foundUser]("users.find")
	watchContract = sabir.NewStream[findUser, foundUser]("users.find")
)

// finder is the service users, with the action find of some contract.
func finder[In, Out any](contract *sabir.Contract[In, Out]) *sabir.Service {
	s := sabir.NewService("users")
	contract.Handle(s, func(context.Context, In) (out Out, err error) { return out, nil })
	return s
}

func dependsOn(on ...sabir.Dependency) *sabir.Service {
	return sabir.NewService("orders", sabir.DependsOn(on...))
}

func TestADependencyIsComparedWithWhatIsOfferedHere(t *testing.T) {
	nothing := sabir.NewAction[findUser, sabir.Empty]("users.find")
	misspelt := sabir.NewAction[findUser, foundUser]("users.fnd")
	for _, test := range []struct {
		name    string
		offered *sabir.Service
		on      sabir.Dependency
		want    introspect.Dependency
	}{
		{"the contract", finder(findContract), findContract, introspect.Dependency{On: "users.find", Node: "n"}},
		{"a service by name", finder(findContract), sabir.ServiceName("users"), introspect.Dependency{On: "users"}},
		{"another input", finder(findContract), otherContract,
			introspect.Dependency{On: "users.find", Node: "n", Problem: "its input: it has no member in common: Key is sent, and ID wanted"}},
		{"no output", finder(nothing), findContract, introspect.Dependency{On: "users.find", Node: "n", Problem: "its output: nothing is sent"}},
		{"a stream", finder(findContract), watchContract, introspect.Dependency{On: "users.find", Node: "n", Problem: "it is no stream, and the contract is"}},
		{"a name that no action has", finder(findContract), misspelt,
			introspect.Dependency{On: "users.fnd", Problem: "service users has no such action; did you mean users.find?"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines := make(chan string, 100)
			n := sabir.NewNode(sabir.NodeID("n"), logTo(lines), sabir.Serve(test.offered, dependsOn(test.on)))
			if err := n.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			test.want.Service = "orders"
			if got := n.Dependencies(t.Context()); len(got) != 1 || got[0] != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
			if test.want.Problem != "" {
				awaitLine(t, lines, "a service depends on what is not offered like that", "on="+test.want.On)
			}
			if err := n.Stop(context.Background()); err != nil {
				t.Fatal(err)
			}
			if len(lines) > 0 {
				t.Errorf("logged too: %s", <-lines)
			}
		})
	}
}

func TestStrictDependenciesEndTheStart(t *testing.T) {
	n := sabir.NewNode(sabir.Logger(quiet), sabir.StrictDependencies(), sabir.Serve(finder(findContract), dependsOn(otherContract)))
	reports(t, n.Start(t.Context()), sabir.NewError(sabir.CodeInvalidArgument, "BadService", ""), "dependency_test.go:", "orders depends on users.find of node", "Key is sent, and ID wanted")
	n = sabir.NewNode(sabir.Logger(quiet), sabir.StrictDependencies(), sabir.Serve(finder(findContract), dependsOn(findContract)))
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	stopIfRunning(t, n)
}

func TestADependencyWithoutANameIsAnErrorOfTheStart(t *testing.T) {
	var none *sabir.Contract[int, int]
	for _, on := range []sabir.Dependency{nil, none, &sabir.Contract[int, int]{}, sabir.ServiceName("")} {
		n := sabir.NewNode(sabir.Logger(quiet), sabir.Serve(dependsOn(on)))
		reports(t, n.Start(t.Context()), sabir.NewError(sabir.CodeInvalidArgument, "BadService", ""), "dependency_test.go:", "depends on something without a name")
	}
}

func TestNodesThatComeWithOtherTypesAreEachWarnedOfOnce(t *testing.T) {
	lines := make(chan string, 100)
	first := meeting(t, "first", sabir.Serve(finder(findContract)))
	if err := <-begun(t, first); err != nil {
		t.Fatal(err)
	}
	n := sabir.NewNode(sabir.NodeID("caller"), logTo(lines), sabir.Join("mem://"+t.Name()), sabir.StrictDependencies(), sabir.Serve(dependsOn(findContract)))
	if err := <-begun(t, n); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"second", "third"} {
		if err := <-begun(t, meeting(t, id, sabir.Serve(finder(otherContract)))); err != nil {
			t.Fatal(err)
		}
		awaitLine(t, lines, "a service depends on", "offered_by="+id) // the first one, of which nothing else comes between
	}
	const problem = "its input: it has no member in common: ID is sent, and Key wanted"
	want := []introspect.Dependency{
		{Service: "orders", On: "users.find", Node: "first"},
		{Service: "orders", On: "users.find", Node: "second", Problem: problem},
		{Service: "orders", On: "users.find", Node: "third", Problem: problem},
	}
	if got := n.Dependencies(t.Context()); !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

// logTo makes warnings of a node's log lines.
func logTo(lines chan<- string) sabir.NodeOption {
	w := writerFunc(func(p []byte) (int, error) { lines <- string(p); return len(p), nil })
	return sabir.Logger(slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn})))
}

// awaitLine fails if the next line does not have the words.
func awaitLine(t *testing.T, lines <-chan string, words ...string) {
	t.Helper()
	select {
	case line := <-lines:
		for _, word := range words {
			if !strings.Contains(line, word) {
				t.Errorf("%q is not in %q", word, line)
			}
		}
	case <-time.After(time.Minute):
		t.Fatal("nothing is logged")
	}
}

func TestNodesSayWhatTheirServicesWaitFor(t *testing.T) {
	a, b := meeting(t, "a", sabir.Serve(named("stock"))), meeting(t, "b", sabir.Serve(named("orders", "users", "stock", "mail")))
	for _, n := range []*sabir.Node{a, b} {
		started := begun(t, n)
		if n == a {
			if err := <-started; err != nil {
				t.Fatal(err)
			}
		}
	}
	orders := func(on, more string) introspect.Dependency {
		return introspect.Dependency{Service: "orders", On: on, Problem: "no node offers the service " + on + more}
	}
	const waits = ", so that orders has not started"
	awaitUnmet(t, a, "b", orders("users", waits), orders("mail", waits))
	if got := b.Info().Unmet; !slices.Equal(got, []introspect.Dependency{orders("users", waits), orders("mail", waits)}) {
		t.Errorf("b says %+v", got)
	}
	users, mail := named("users"), named("mail")
	if err := a.Add(t.Context(), users); err != nil {
		t.Fatal(err)
	}
	awaitUnmet(t, a, "b", orders("mail", waits)) // it waits still, for less
	if err := a.Add(t.Context(), mail); err != nil {
		t.Fatal(err)
	}
	awaitUnmet(t, a, "b")
	if got, err := sabir.Call[string](t.Context(), a, "orders.get", 1, sabir.WaitForNode(time.Minute)); got != "orders" || err != nil {
		t.Fatal(got, err)
	}
	if err := a.Remove(t.Context(), mail); err != nil {
		t.Fatal(err)
	}
	awaitUnmet(t, b, "b", orders("mail", "")) // it has started, and lost what it depends on
}

// awaitUnmet waits until a node knows this of a node.
func awaitUnmet(t *testing.T, n *sabir.Node, of string, want ...introspect.Dependency) {
	t.Helper()
	var got []introspect.Dependency
	late := time.After(time.Minute)
	for {
		changed := n.Changed()
		for _, one := range n.Nodes() {
			if one.ID == of {
				got = one.Unmet
			}
		}
		if slices.Equal(got, want) {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("node %s knows %+v of %s, want %+v", n.ID(), got, of, want)
		}
	}
}
