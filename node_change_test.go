package sabir_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

// hanging is a service whose start hook tells that it has begun and then waits: for its context, or where it is deaf, for the test's end.
func hanging(t *testing.T, name string, deaf bool) (s *sabir.Service, begun chan struct{}) {
	begun, end := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(end) })
	return sabir.NewService(name, sabir.OnStart(func(ctx context.Context) error {
		close(begun)
		if deaf {
			<-end
			return nil
		}
		<-ctx.Done()
		return context.Cause(ctx)
	})), begun
}

func TestAStopEndsAnAdditionThatIsUnderWay(t *testing.T) {
	for _, test := range []struct {
		name string
		deaf bool
	}{{"whose start hook heeds its context", false}, {"whose start hook does not", true}} {
		t.Run(test.name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				node := start(t)
				s, begun := hanging(t, "slow", test.deaf)
				added := make(chan error, 1)
				go func() { added <- node.Add(context.Background(), s) }()
				<-begun
				asked := time.Now()
				if err := node.Stop(context.Background()); err != nil || time.Since(asked) > 2*time.Second {
					t.Errorf("the stop ended after %v with %v", time.Since(asked), err)
				}
				if err := <-added; !errors.Is(err, sabir.NewError(sabir.CodeFailedPrecondition, "NodeState", "")) {
					t.Errorf("the addition ended with %v", err)
				}
			})
		})
	}
}

func TestAStopEndsAnAdditionThatWaitsForAServiceOfAnotherNode(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		node := start(t)
		added := make(chan error, 1)
		go func() {
			added <- node.Add(context.Background(), sabir.NewService("orders", sabir.DependsOn(sabir.ServiceName("stock"))))
		}()
		bubbletest.Wait()
		if err := node.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-added; !errors.Is(err, sabir.NewError(sabir.CodeFailedPrecondition, "NodeState", "")) {
			t.Errorf("the addition ended with %v", err)
		}
	})
}

func TestAStopWaitsForARemovalNoLongerThanItsContext(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		inside, end := make(chan struct{}), make(chan struct{})
		defer close(end)
		s := sabir.NewService("slow", sabir.OnStop(func(context.Context) error { return nil }))
		sabir.Handle(s, "call", func(context.Context, struct{}) (struct{}, error) { close(inside); <-end; return struct{}{}, nil })
		node := start(t, sabir.Serve(s))
		go func() { _, _ = sabir.Call[struct{}](context.Background(), node, "slow.call", struct{}{}) }()
		<-inside
		removed := make(chan error, 1)
		go func() { removed <- node.Remove(context.Background(), s) }()
		bubbletest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		asked := time.Now()
		_ = node.Stop(ctx)
		if took := time.Since(asked); took < 3*time.Second || took > 4*time.Second || node.State() != "stopped" {
			t.Errorf("the stop ended after %v, and the node is %v", took, node.State())
		}
		if err := <-removed; err == nil {
			t.Error("the removal ended without error, with a call still running")
		}
	})
}

func TestAnAdditionWaitsForAnotherNoLongerThanItsContext(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		node := start(t)
		s, begun := hanging(t, "slow", false)
		ctx, cancel := context.WithCancel(context.Background())
		added := make(chan error, 1)
		go func() { added <- node.Add(ctx, s) }()
		<-begun
		short, done := context.WithTimeout(context.Background(), time.Second)
		defer done()
		if err := node.Add(short, greeter()); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "while others are being added or removed") {
			t.Errorf("the second addition ended with %v", err)
		}
		cancel()
		if err := <-added; !errors.Is(err, context.Canceled) {
			t.Errorf("the first addition ended with %v", err)
		}
		if err := node.Add(context.Background(), greeter()); err != nil {
			t.Errorf("the third addition ended with %v", err)
		}
	})
}

func TestAStopHookThatDoesNotReturnKeepsNoOtherFromRunning(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		end, saved := make(chan struct{}), false
		defer close(end)
		first := sabir.NewService("first", sabir.OnStop(func(context.Context) error { saved = true; return nil }))
		second := sabir.NewService("second", sabir.DependsOn(sabir.ServiceName("first")), sabir.OnStop(func(context.Context) error { <-end; return nil }))
		node := start(t, sabir.Serve(first, second))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		err := node.Stop(ctx)
		if !saved || node.State() != "stopped" || !errors.Is(err, sabir.ErrDeadlineExceeded) || !strings.Contains(err.Error(), "the stop hook of second has not returned") {
			t.Errorf("the other hook has run: %v, the node is %v, the stop ended with %v", saved, node.State(), err)
		}
	})
}

// t.FailNow in a hook ends its goroutine so.
func TestAHookThatEndsItsGoroutineHasFailed(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		exit := func(context.Context) error { runtime.Goexit(); return nil }
		node := start(t)
		err := node.Add(context.Background(), sabir.NewService("starts", sabir.OnStart(exit)))
		if !errors.Is(err, sabir.ErrPanic) || !strings.Contains(err.Error(), "the start hook of starts ended its goroutine") {
			t.Errorf("the addition ended with %v", err)
		}
		stops := sabir.NewService("stops", sabir.OnStop(exit))
		if err := node.Add(context.Background(), stops); err != nil {
			t.Fatal(err)
		}
		if err := node.Remove(context.Background(), stops); !errors.Is(err, sabir.ErrPanic) {
			t.Errorf("the removal ended with %v", err)
		}
	})
}

func TestServicesAreAddedWhileAnotherWaitsForThem(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		node := start(t)
		orders := sabir.NewService("orders", sabir.DependsOn(sabir.ServiceName("stock")))
		added := make(chan error, 1)
		go func() { added <- node.Add(context.Background(), orders) }()
		bubbletest.Wait()
		if err := node.Add(context.Background(), sabir.NewService("other")); err != nil {
			t.Error(err)
		}
		if err := node.Add(context.Background(), sabir.NewService("stock")); err != nil {
			t.Error(err)
		}
		if err := <-added; err != nil {
			t.Error(err)
		}
		if err := node.Remove(context.Background(), orders); err != nil {
			t.Error(err)
		}
	})
}

func TestAnAdditionThatGivesUpStopsWhatItHasStarted(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var notes []string
		node := start(t)
		ctx, cancel := context.WithCancel(context.Background())
		added := make(chan error, 1)
		go func() {
			added <- node.Add(ctx, noting(&notes, "first"), noting(&notes, "second", sabir.DependsOn(sabir.ServiceName("stock"))))
		}()
		bubbletest.Wait()
		cancel()
		if err := <-added; !errors.Is(err, sabir.ErrServiceUnavailable) || strings.Join(notes, ", ") != "start first, stop first" {
			t.Errorf("the addition ended with %v; hooks: %v", err, notes)
		}
	})
}

func TestAServiceThatAnAdditionHasStartedIsStoppedOnceByTheNodesStop(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var notes []string
		node := start(t)
		added := make(chan error, 1)
		go func() {
			added <- node.Add(context.Background(), noting(&notes, "first"), noting(&notes, "second", sabir.DependsOn(sabir.ServiceName("stock"))))
		}()
		bubbletest.Wait()
		if err := node.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-added; !errors.Is(err, sabir.NewError(sabir.CodeFailedPrecondition, "NodeState", "")) || strings.Join(notes, ", ") != "start first, stop first" {
			t.Errorf("the addition ended with %v; hooks: %v", err, notes)
		}
	})
}

func TestServicesOfTwoAdditionsThatDependOnEachOtherAreACircle(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		node := start(t, sabir.Logger(quiet))
		errs := make(chan error, 2)
		for _, pair := range [][2]string{{"orders", "stock"}, {"stock", "orders"}} {
			go func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				errs <- node.Add(ctx, sabir.NewService(pair[0], sabir.DependsOn(sabir.ServiceName(pair[1]))))
			}()
		}
		if err := <-errs; !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadService", "")) || !strings.Contains(err.Error(), "circle") {
			t.Errorf("the first addition ended with %v", err)
		}
		<-errs
	})
}
