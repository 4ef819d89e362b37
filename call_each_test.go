package sabir_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/sabir-go/sabir"
)

var whoIs = sabir.NewAction[string, string]("search.who")

// searchers starts three nodes that offer an action and one that only calls.
func searchers(t *testing.T) *sabir.Node {
	t.Helper()
	address := sabir.Join("mem://" + t.Name())
	for _, id := range []string{"one", "two", "three"} {
		s := sabir.NewService("search")
		whoIs.Handle(s, func(ctx context.Context, what string) (string, error) {
			switch {
			case what == "fails on "+id:
				return "", sabir.NewError(sabir.CodeInternal, "Broken", "the index is broken")
			case what == "ends on "+id:
				runtime.Goexit()
			case what == "hangs on "+id:
				<-ctx.Done()
				return "", ctx.Err()
			}
			return id, nil
		})
		start(t, sabir.NodeID(id), sabir.Serve(s), address)
	}
	caller := start(t, sabir.NodeID("caller"), address)
	for {
		changed := caller.Changed()
		if a := caller.Action("search.who"); a != nil && len(a.Nodes()) == 3 {
			return caller
		}
		<-changed
	}
}

func TestCallEachHasTheAnswersOfAllNodes(t *testing.T) {
	caller := searchers(t)
	for what, wantErr := range map[string]string{"it": "", "fails on two": "Broken", "ends on two": "Panic"} {
		var got []string
		for out, err := range whoIs.CallEach(t.Context(), caller, what) {
			if err != nil {
				if e := sabir.AsError(err); e.Name != wantErr || e.Node != "two" {
					t.Errorf("%s: %v of node %s", what, err, e.Node)
				}
				continue
			}
			got = append(got, out)
		}
		slices.Sort(got)
		want := []string{"one", "three", "two"}
		if wantErr != "" {
			want = want[:2]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v", what, got)
		}
	}
}

func TestWhoeverHasEnoughEndsTheOtherCallsOfCallEach(t *testing.T) {
	caller := searchers(t)
	answered := 0
	for _, err := range whoIs.CallEach(t.Context(), caller, "hangs on three") {
		if err != nil {
			t.Fatal(err)
		}
		if answered++; answered == 2 { // a quorum
			break
		}
	}
	if answered != 2 {
		t.Errorf("%d answers", answered)
	}
}

func TestCallEachOfWhatNobodyOffersIsOneError(t *testing.T) {
	n := start(t)
	var errs []error
	for _, err := range whoIs.CallEach(t.Context(), n, "it") {
		errs = append(errs, err)
	}
	if len(errs) != 1 || !errors.Is(errs[0], sabir.ErrActionNotFound) {
		t.Errorf("%v", errs)
	}
	for _, err := range new(sabir.Contract[string, string]).CallEach(t.Context(), n, "it") {
		if sabir.AsError(err).Name != "BadContract" {
			t.Errorf("the zero value: %v", err)
		}
	}
}

func TestAQuorumEndsCallEachAfterSoManyGoodAnswers(t *testing.T) {
	caller := searchers(t)
	for what, quorum := range map[string]int{"hangs on three": 2, "fails on one": 2, "it": 3, "hangs on two": 0} {
		good := 0
		for _, err := range whoIs.CallEach(t.Context(), caller, what, sabir.Quorum(quorum)) {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
			good++
		}
		if want := max(quorum, 2); good != want {
			t.Errorf("%s: %d answers, want %d", what, good, want)
		}
	}
}

func TestAQuorumThatCannotBeHadIsOneErrorAtOnce(t *testing.T) {
	caller := searchers(t)
	for what, quorum := range map[string]int{"fails on one": 3, "it": 4} {
		var errs []error
		for _, err := range whoIs.CallEach(t.Context(), caller, what, sabir.Quorum(quorum)) {
			if err != nil {
				errs = append(errs, err)
			}
		}
		if len(errs) != 1 || !errors.Is(errs[0], sabir.ErrNoQuorum) {
			t.Errorf("%s: %v", what, errs)
		}
		if broken := sabir.NewError(sabir.CodeInternal, "Broken", ""); quorum == 3 && !errors.Is(errs[0], broken) {
			t.Errorf("%v does not wrap the error of the node", errs[0])
		}
	}
}

func TestCallMergedMakesOneAnswerOfAll(t *testing.T) {
	caller := searchers(t)
	longer := func(a, b string) string {
		if len(b) > len(a) {
			return b
		}
		return a
	}
	if got, err := whoIs.CallMerged(t.Context(), caller, "it", longer); got != "three" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := whoIs.CallMerged(t.Context(), caller, "fails on two", longer); got != "" || sabir.AsError(err).Name != "Broken" {
		t.Errorf("where a call fails: %q, %v", got, err)
	}
	if got, err := whoIs.CallMerged(t.Context(), caller, "fails on two", longer, sabir.Quorum(2)); got != "three" || err != nil {
		t.Errorf("with a quorum: %q, %v", got, err)
	}
}

func TestEachVersionIsCalledOnce(t *testing.T) {
	address := sabir.Join("mem://" + t.Name())
	version := func(n int) *sabir.Service {
		s := sabir.NewService("search", sabir.Version(n))
		sabir.Handle(s, "who", func(ctx context.Context, _ string) (string, error) { return sabir.InfoFromContext(ctx).Action, nil })
		return s
	}
	start(t, sabir.NodeID("old"), sabir.Serve(version(1), version(2)), address)
	caller := start(t, sabir.NodeID("new"), sabir.Serve(version(2), version(3)), address)
	if err := caller.WaitFor(t.Context(), "v1.search"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"search.who", "v2.search.who"} {
		var got []string
		for out, err := range sabir.NewAction[string, string](name).CallEach(t.Context(), caller, "", sabir.EachVersion()) {
			if err != nil {
				t.Error(err)
			}
			got = append(got, out)
		}
		slices.Sort(got)
		if want := []string{"v1.search.who", "v2.search.who", "v3.search.who"}; !slices.Equal(got, want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestTheOptionsOfCallEachAreForNoOtherCall(t *testing.T) {
	caller := searchers(t)
	for _, option := range []sabir.CallOption{sabir.Quorum(1), sabir.EachVersion()} {
		if _, err := whoIs.Call(t.Context(), caller, "it", option); !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadOption", "")) {
			t.Errorf("Contract.Call: %v", err)
		}
		if _, err := sabir.Call[string](t.Context(), caller, "search.who", "it", option); !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadOption", "")) {
			t.Errorf("Call: %v", err)
		}
	}
	for _, err := range whoIs.CallEach(t.Context(), caller, "it", sabir.Quorum(1), sabir.Quorum(2)) {
		if !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadOption", "")) {
			t.Errorf("Quorum twice: %v", err)
		}
	}
}
