package sabir_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/transport/mem"
)

// withActions makes a service of so many actions.
func withActions(name string, count int) *sabir.Service {
	s := sabir.NewService(name)
	for i := range count {
		sabir.Handle(s, fmt.Sprint("a", i), func(context.Context, int) (int, error) { return 0, nil })
	}
	return s
}

func TestANodeDoesNotStartWithMoreActionsThanOtherNodesTake(t *testing.T) {
	node := sabir.NewNode(sabir.Serve(withActions("few", 3), withActions("many", 16_384)), sabir.Join("mem://"+t.Name()))
	err := node.Start(t.Context())
	if err == nil {
		node.Stop(context.Background())
	}
	if err == nil || !strings.Contains(err.Error(), "service many") || !strings.Contains(err.Error(), "16387 actions; 16384 is the limit") {
		t.Errorf("the start ended with %v", err)
	}
}

func TestAServiceIsNotAddedWithMoreActionsThanOtherNodesTake(t *testing.T) {
	node := start(t, sabir.Serve(withActions("many", 16_384)), sabir.Join("mem://"+t.Name()))
	few := withActions("few", 1)
	if err := node.Add(t.Context(), few); err == nil || !strings.Contains(err.Error(), "16385 actions; 16384 is the limit") {
		t.Errorf("the addition ended with %v", err)
	}
	if node.Action("few.a0") != nil {
		t.Error("the action is there")
	}
}

func TestANodeWithoutAClusterHasAnyNumberOfActions(t *testing.T) {
	node := start(t, sabir.Serve(withActions("many", 16_385)))
	if node.Action("many.a16384") == nil {
		t.Error("the last action is missing")
	}
}
