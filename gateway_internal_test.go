package sabir

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/admission"
)

// waitedContext does something when a call begins to wait for its turn.
type waitedContext struct {
	context.Context
	waits func()
}

func (c *waitedContext) Done() <-chan struct{} {
	c.waits()
	return c.Context.Done()
}

func TestACallFromOutsideIsRefusedWhereTheMemoryWasTakenWhileItWaited(t *testing.T) {
	ran := false
	s := NewService("long")
	Handle(s, "one", func(context.Context, Empty) (int, error) { ran = true; return 1, nil })
	node := NewNode(Serve(s), Limits{NodeBuffers: 1 << 20})
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.Background())
	for node.admission.Ask(&admission.Ticket{Granted: func() {}}, admission.Normal) { // until one has to wait
	}
	takeMemory := sync.OnceFunc(func() {
		node.memory.Own().Hold(2 << 20)
		node.admission.Done()
		node.admission.Done()
	})
	in := gateway.Inbound{Context: &waitedContext{t.Context(), takeMemory}}
	_, err := node.Action("long.one").ServeJSON(in, nil, nil)
	if e := AsError(err); err == nil || e.Name != "TooManyCalls" || !e.Retryable || !strings.Contains(e.Message, "holds as much as it may") {
		t.Errorf("%v", err)
	}
	if ran {
		t.Error("its handler ran")
	}
}
