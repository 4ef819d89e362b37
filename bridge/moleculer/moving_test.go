package moleculer_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
	"github.com/sabir-go/sabir/internal/brokers"
)

// The steps are those of "Moving one service" in docs/bridges.md.
func TestAServiceMovesToGoAndBackWhileItIsCalled(t *testing.T) {
	brokers.Long(t)
	t.Parallel()
	a := newPlace(t)
	old, caller := a.peer("5", "old"), a.peer("5", "caller")
	old.must(nil, "add", "stock")
	caller.must(nil, "wait", "stock")

	var calls, fromGo, fromNode, failed atomic.Int64
	var reason atomic.Value
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			out, err := caller.call("stock.hello", nil)
			calls.Add(1)
			switch {
			case err != nil:
				failed.Add(1)
				reason.Store(err.Error())
			case string(out.Result) == `"hello from Go"`:
				fromGo.Add(1)
			default:
				fromNode.Add(1)
			}
		}
	}()
	// only waits until one side has answered a hundred calls and the other none of them.
	only := func(side, other *atomic.Int64) {
		t.Helper()
		waitFor(t, "a hundred answers of one side", func() bool {
			had, begun := other.Load(), side.Load()
			waitFor(t, "a hundred answers", func() bool { return side.Load()-begun > 100 || other.Load() > had })
			return other.Load() == had
		})
	}
	only(&fromNode, &fromGo)

	stock := sabir.NewService("stock")
	sabir.Handle(stock, "hello", func(context.Context, any) (string, error) { return "hello from Go", nil })
	n := a.node("go", []sabir.Servable{stock}, moleculer.Config{Expose: []string{"stock.*"}})
	waitFor(t, "an answer of Go", func() bool { return fromGo.Load() > 0 })
	old.must(nil, "stop")
	only(&fromGo, &fromNode)

	back := a.peer("5", "back")
	back.must(nil, "add", "stock")
	before := fromNode.Load()
	waitFor(t, "an answer of Node", func() bool { return fromNode.Load() > before })
	if err := n.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	only(&fromNode, &fromGo)
	close(stop)
	<-ended
	if failed.Load() > 0 {
		t.Errorf("%d of %d calls failed: %v", failed.Load(), calls.Load(), reason.Load())
	}
}
