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
