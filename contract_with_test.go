package sabir_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir"
)

// counting is a middleware that counts the calls to other nodes that pass it, and may fail them.
func counting(passed *atomic.Int32, fail error) sabir.Middleware {
	return sabir.Middleware{Name: "counting", Remote: func(_ *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			passed.Add(1)
			if fail != nil {
				return fail
			}
			return next(ctx, r)
		}
	}}
}

// twoNodes are a node with the services, and one that calls them.
func twoNodes(t *testing.T, services ...sabir.Servable) (caller *sabir.Node) {
	address := sabir.Join("mem://" + strings.ReplaceAll(t.Name(), "/", "-"))
	start(t, sabir.NodeID("other"), sabir.Serve(services...), address)
	caller = start(t, sabir.NodeID("caller"), address)
	if err := caller.WaitFor(t.Context(), "users"); err != nil {
		t.Fatal(err)
	}
	return caller
}

func TestPoliciesOfAContractWrapTheCallsThroughItToOtherNodes(t *testing.T) {
	caller := twoNodes(t, finder(findContract))
	var outer, inner atomic.Int32
	guarded := findContract.With(counting(&outer, nil)).With(counting(&inner, nil))
	for name, call := range map[string]func() error{
		"Call": func() error { _, err := guarded.Call(t.Context(), caller, findUser{}); return err },
		"Call with options": func() error {
			_, err := guarded.Call(t.Context(), caller, findUser{}, sabir.ToNode("other"))
			return err
		},
		"Bind": func() error { _, err := guarded.Bind(caller)(t.Context(), findUser{}); return err },
		"Into": func() error { var out foundUser; return sabir.All(t.Context(), caller, guarded.Into(&out, findUser{})) },
	} {
		outer.Store(0)
		inner.Store(0)
		if err := call(); err != nil || outer.Load() != 1 || inner.Load() != 1 {
			t.Errorf("%s: %v, passed %d and %d times", name, err, outer.Load(), inner.Load())
		}
	}
	if _, err := findContract.Call(t.Context(), caller, findUser{}); err != nil || outer.Load() != 1 {
		t.Errorf("the contract without policies: %v, passed %d times", err, outer.Load())
	}
	refused := errors.New("not now")
	failing := findContract.With(counting(&outer, refused), counting(&inner, nil))
	inner.Store(0)
	if _, err := failing.Call(t.Context(), caller, findUser{}); err == nil || !strings.Contains(err.Error(), "not now") || inner.Load() != 0 {
		t.Errorf("got %v, the inner one passed %d times", err, inner.Load())
	}
}

func TestPoliciesOfAContractPassByCallsOnTheirNode(t *testing.T) {
	node := start(t, sabir.Serve(finder(findContract)))
	var passed atomic.Int32
	if _, err := findContract.With(counting(&passed, nil)).Call(t.Context(), node, findUser{}); err != nil || passed.Load() != 0 {
		t.Errorf("%v, passed %d times", err, passed.Load())
	}
}

func TestAPolicyThatCannotWrapCallsToOtherNodesIsAnErrorOfTheCall(t *testing.T) {
	caller := twoNodes(t, finder(findContract))
	rejecting := sabir.Middleware{Name: "rejecting", Remote: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		a.Reject("the limit is 0")
		return next
	}}
	for want, policy := range map[string]sabir.Middleware{"it has no Remote": {Name: "local only"}, "the limit is 0": rejecting} {
		_, err := findContract.With(policy).Call(t.Context(), caller, findUser{})
		reports(t, err, sabir.NewError(sabir.CodeInvalidArgument, "BadOption", ""), "the contract of users.find", want)
		reports(t, findContract.With(policy).Send(t.Context(), caller, findUser{}), sabir.NewError(sabir.CodeInvalidArgument, "BadOption", ""), "the contract of users.find", want)
		if _, err := findContract.Call(t.Context(), caller, findUser{}); err != nil {
			t.Errorf("the contract without policies: %v", err)
		}
	}
}

func TestPoliciesOfContractsThatAreNotInUseAnyMoreAreForgotten(t *testing.T) {
	caller := twoNodes(t, finder(findContract))
	var collected atomic.Int32
	for range 100 {
		held := new([1 << 20]byte)
		runtime.AddCleanup(held, func(int) { collected.Add(1) }, 0)
		policy := sabir.Middleware{Name: "large", Remote: func(_ *sabir.Action, next sabir.Handler) sabir.Handler {
			return func(ctx context.Context, r *sabir.Request) error { held[0]++; return next(ctx, r) }
		}}
		if _, err := findContract.With(policy).Call(t.Context(), caller, findUser{}); err != nil {
			t.Fatal(err)
		}
	}
	for collected.Load() < 90 {
		runtime.GC()
	}
}
