package sabir_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/brokers"
	_ "github.com/sabir-go/sabir/transport/mem"
)

// named is a service with the action get, which depends on others.
func named(name string, needs ...string) *sabir.Service {
	var dependencies []sabir.Dependency
	for _, need := range needs {
		dependencies = append(dependencies, sabir.ServiceName(need))
	}
	s := sabir.NewService(name, sabir.DependsOn(dependencies...))
	sabir.Handle(s, "get", func(context.Context, int) (string, error) { return name, nil })
	return s
}

func meeting(t *testing.T, id string, options ...sabir.NodeOption) *sabir.Node {
	return sabir.NewNode(append(options, sabir.NodeID(id), sabir.Logger(quiet), sabir.Join("mem://"+strings.ReplaceAll(t.Name(), "/", "-")))...)
}

// begun starts a node on a goroutine of its own, and stops it at the end of the test if it runs.
func begun(t *testing.T, n *sabir.Node) (started chan error) {
	started = make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	go func() { started <- n.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		stopIfRunning(t, n)
	})
	return started
}

func awaitAbsence(t *testing.T, n *sabir.Node, action string) {
	t.Helper()
	for changed := n.Changed(); n.Action(action) != nil; changed = n.Changed() {
		select {
		case <-changed:
		case <-time.After(time.Minute):
			t.Fatal(action + " is still offered")
		}
	}
}

func isAbsent(t *testing.T, about string, err error, parts ...string) {
	t.Helper()
	reports(t, err, sabir.ErrServiceUnavailable, parts...)
	if e := sabir.AsError(err); e == nil || !e.Retryable || e.Code != sabir.CodeUnavailable {
		t.Errorf("%s: %v: want Unavailable, retryable", about, err)
	}
}

func TestANameIsAbsentOrUnknownByWhatIsKnownOfIt(t *testing.T) {
	users := named("users")
	owner := meeting(t, "owner", sabir.Serve(users, named("users.archive"), sabir.NewService("idle")))
	caller := meeting(t, "caller")
	if err := errors.Join(owner.Start(t.Context()), caller.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	defer stopIfRunning(t, caller)
	if err := caller.WaitFor(t.Context(), "users", "users.archive"); err != nil {
		t.Fatal(err)
	}
	call := func(name string) error {
		_, err := sabir.Call[string](t.Context(), caller, name, 1)
		return err
	}
	get := sabir.Bind[int, string](caller, "ledger.get") // of a service that is still to come

	reports(t, call("users.gett"), sabir.ErrActionNotFound, "did you mean users.get")
	if err := owner.Remove(t.Context(), users); err != nil {
		t.Fatal(err)
	}
	awaitAbsence(t, caller, "users.get")
	reports(t, call("users.get"), sabir.ErrActionNotFound) // it was removed on purpose

	if err := owner.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitAbsence(t, caller, "users.archive.get")
	isAbsent(t, "of a node that has left", call("users.archive.get"), "no node offers users.archive.get; owner did until", "ago")
	reports(t, call("users.archive.gett"), sabir.ErrActionNotFound, "did you mean users.archive.get")
	reports(t, call("nobody.knows"), sabir.ErrActionNotFound)
	_, err := get(t.Context(), 1)
	isAbsent(t, "bound", err, "no node offers ledger.get now")
	if listed := caller.Absent(); len(listed) != 1 || listed[0].Name != "users.archive.get" {
		t.Errorf("absent are %v", listed)
	}
}

func TestAnAbsentNameWithoutAVersionIsAbsentToo(t *testing.T) {
	s := sabir.NewService("users", sabir.Version(2))
	sabir.Handle(s, "get", func(context.Context, int) (string, error) { return "", nil })
	owner, caller := meeting(t, "owner", sabir.Serve(s)), meeting(t, "caller")
	if err := errors.Join(owner.Start(t.Context()), caller.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	defer stopIfRunning(t, caller)
	if err := errors.Join(caller.WaitFor(t.Context(), "v2.users"), owner.Stop(t.Context())); err != nil {
		t.Fatal(err)
	}
	awaitAbsence(t, caller, "v2.users.get")
	_, err := sabir.Call[string](t.Context(), caller, "users.get", 1)
	isAbsent(t, "by the short name", err, "v2.users.get", "owner")
}

func TestACallWaitsForItsNodeWhereItMay(t *testing.T) {
	tests := []struct {
		name string
		node []sabir.NodeOption
		call func(ctx context.Context, n *sabir.Node) error
	}{
		{"by name", nil, func(ctx context.Context, n *sabir.Node) error {
			_, err := sabir.Call[string](ctx, n, "users.get", 1, sabir.WaitForNode(time.Minute))
			return err
		}},
		{"to a node", nil, func(ctx context.Context, n *sabir.Node) error {
			_, err := sabir.Call[string](ctx, n, "users.get", 1, sabir.WaitForNode(time.Minute), sabir.ToNode("owner"))
			return err
		}},
		{"bound, by the node's option", []sabir.NodeOption{sabir.Limits{WaitForNode: time.Minute}}, func(ctx context.Context, n *sabir.Node) error {
			_, err := sabir.Bind[int, string](n, "users.get")(ctx, 1)
			return err
		}},
		{"a contract", nil, func(ctx context.Context, n *sabir.Node) error {
			_, err := sabir.NewAction[int, string]("users.get").Call(ctx, n, 1, sabir.WaitForNode(time.Minute))
			return err
		}},
		{"JSON", nil, func(ctx context.Context, n *sabir.Node) error {
			_, err := sabir.CallJSON(ctx, n, "users.get", []byte("1"), sabir.WaitForNode(time.Minute))
			return err
		}},
		{"a stream", nil, func(ctx context.Context, n *sabir.Node) error {
			s, err := sabir.OpenStream[int, int](ctx, n, "users.follow", sabir.WaitForNode(time.Minute))
			if err == nil {
				s.Close()
			}
			return err
		}},
	}
	for _, test := range tests {
		for _, here := range []bool{false, true} {
			if here && test.name == "to a node" {
				continue
			}
			t.Run(test.name+map[bool]string{true: ", served here in the end"}[here], func(t *testing.T) {
				caller := meeting(t, "caller", test.node...)
				if err := caller.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				defer stopIfRunning(t, caller)
				waits := make(chan error, 1)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				go func() { waits <- test.call(ctx, caller) }()
				select {
				case err := <-waits:
					t.Fatalf("it did not wait: %v", err)
				case <-time.After(20 * time.Millisecond):
				}
				users := named("users")
				sabir.HandleStream(users, "follow", func(context.Context, *sabir.Stream[int, int]) error { return nil })
				if here {
					if err := caller.Add(t.Context(), users); err != nil {
						t.Fatal(err)
					}
				} else {
					owner := meeting(t, "owner", sabir.Serve(users))
					if err := owner.Start(t.Context()); err != nil {
						t.Fatal(err)
					}
					defer stopIfRunning(t, owner)
				}
				if err := <-waits; err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestACallWaitsForNoNodeLongerThanItMay(t *testing.T) {
	caller := meeting(t, "caller", sabir.Serve(named("own")))
	if err := caller.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer stopIfRunning(t, caller)
	limited := func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, 30*time.Millisecond)
	}
	canceled := func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(30*time.Millisecond, cancel)
		return ctx, cancel
	}
	tests := []struct {
		name, action string
		ctx          func(context.Context) (context.Context, context.CancelFunc)
		options      []sabir.CallOption
		want         error
	}{
		{"its own limit", "users.get", nil, []sabir.CallOption{sabir.WaitForNode(30 * time.Millisecond)}, sabir.ErrServiceUnavailable},
		{"the timeout of the call", "users.get", nil, []sabir.CallOption{sabir.WaitForNode(time.Hour), sabir.WithTimeout(30 * time.Millisecond)}, sabir.ErrServiceUnavailable},
		{"the deadline", "users.get", limited, []sabir.CallOption{sabir.WaitForNode(time.Hour)}, sabir.ErrServiceUnavailable},
		{"the end of the context", "users.get", canceled, []sabir.CallOption{sabir.WaitForNode(time.Hour)}, context.Canceled},
		{"a node of a name", "users.get", nil, []sabir.CallOption{sabir.WaitForNode(30 * time.Millisecond), sabir.ToNode("x")}, sabir.ErrServiceUnavailable},
		{"a name that cannot be one", "users..get", nil, []sabir.CallOption{sabir.WaitForNode(time.Hour)}, sabir.ErrActionNotFound},
		{"no wait, as nobody knows it", "users.get", nil, nil, sabir.ErrActionNotFound},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx := t.Context()
			if test.ctx != nil {
				var cancel context.CancelFunc
				ctx, cancel = test.ctx(ctx)
				defer cancel()
			}
			if _, err := sabir.Call[string](ctx, caller, test.action, 1, test.options...); !errors.Is(err, test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTwoNodesWhoseServicesNeedOnesOfTheOtherBothStart(t *testing.T) {
	a := meeting(t, "a", sabir.Serve(named("orders", "users"), named("stock")))
	b := meeting(t, "b", sabir.Serve(named("users", "stock")))
	startA, startB := begun(t, a), begun(t, b)
	if err := errors.Join(<-startA, <-startB); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.Ready(t.Context()), b.Ready(t.Context())); err != nil {
		t.Error(err)
	}
}

func TestACircleOfNeedsOverTwoNodesIsAnErrorOfTheirStarts(t *testing.T) {
	brokers.Long(t)
	a := meeting(t, "a", sabir.Serve(named("orders", "users")))
	b := meeting(t, "b", sabir.Serve(named("users", "orders")))
	startA, startB := begun(t, a), begun(t, b)
	for range 2 {
		select {
		case err := <-startA:
			startA = startB
			reports(t, err, sabir.NewError(sabir.CodeInvalidArgument, "BadService", ""), "circle", "orders", "users", "(on a)", "(on b)")
			return // the other waits for one that may start anew
		case err := <-startB:
			reports(t, err, sabir.NewError(sabir.CodeInvalidArgument, "BadService", ""), "circle", "orders", "users", "(on a)", "(on b)")
			return
		}
	}
}

func TestStartTimeoutEndsAWaitForWhatIsMissingAndNamesIt(t *testing.T) {
	n := meeting(t, "a", sabir.Serve(named("orders", "users", "stock"), named("mail", "users"), named("own")), sabir.Limits{StartTimeout: 50 * time.Millisecond})
	err := n.Start(t.Context())
	reports(t, err, sabir.ErrServiceUnavailable, "StartTimeout", "orders depends on users, stock", "mail depends on users")
	if names, _ := sabir.DataAs[map[string][]string](err); !slices.Equal(names["missing"], []string{"stock", "users"}) {
		t.Errorf("the data is %v", names)
	}
	if n.State() != "stopped" {
		t.Errorf("the node is %v", n.State())
	}
}

func TestANodeIsReadyWhileWhatItsServicesDependOnIsThere(t *testing.T) {
	gate := meeting(t, "gate", sabir.Serve(named("orders", "users")))
	started := begun(t, gate)
	owner := meeting(t, "owner", sabir.Serve(named("users")))
	if err := owner.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(<-started, gate.Ready(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := owner.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitAbsence(t, gate, "users.get")
	isAbsent(t, "without users", gate.Ready(t.Context()), "the node is running, and no node offers users, which orders depends on")
	again := meeting(t, "owner", sabir.Serve(named("users")))
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer stopIfRunning(t, again)
	if err := errors.Join(gate.WaitFor(t.Context(), "users"), gate.Ready(t.Context())); err != nil {
		t.Error(err)
	}
}
