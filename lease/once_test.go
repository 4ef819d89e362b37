package lease_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/lease"
	"github.com/sabir-go/sabir/sabirtest"
)

// ran is the answer of a service that runs once: where, and under which token.
type ran struct {
	Node  string
	Token uint64
}

var where = sabir.NewAction[sabir.Empty, ran]("mailer.where", sabir.Idempotent())

// running counts the nodes on which the service runs, by its hooks.
type running struct{ now, most atomic.Int32 }

func (r *running) mailer(options ...sabir.ServiceOption) *sabir.Service {
	options = append(options, sabir.Once(),
		sabir.OnStart(func(context.Context) error { r.most.Store(max(r.most.Load(), r.now.Add(1))); return nil }),
		sabir.OnStop(func(context.Context) error { r.now.Add(-1); return nil }))
	mailer := sabir.NewService("mailer", options...)
	where.Handle(mailer, func(ctx context.Context, _ sabir.Empty) (ran, error) {
		return ran{sabir.InfoFromContext(ctx).Node, lease.FromContext(ctx).Token()}, nil
	})
	return mailer
}

func mayRun(r *running, st store.Store) []sabir.NodeOption {
	return []sabir.NodeOption{leases(st).Option(), sabir.Serve(r.mailer())}
}

// startNodes starts a node for each store, all of which may run the mailer.
func startNodes(t *testing.T, r *running, stores ...store.Store) []*sabir.Node {
	var options [][]sabir.NodeOption
	for _, st := range stores {
		options = append(options, mayRun(r, st))
	}
	return sabirtest.Cluster(t, options...)
}

// ask calls the service from a node, and waits for it for a while.
func ask(t *testing.T, from *sabir.Node) ran {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		answer, err := where.Call(ctx, from, sabir.Empty{})
		if err == nil {
			return answer
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func byID(nodes []*sabir.Node, id string) int {
	for i, n := range nodes {
		if n.ID() == id {
			return i
		}
	}
	return -1
}

func TestAServiceRunsOnOneNodeAndMovesWhenThatStops(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r running
		st := store.Memory()
		nodes := startNodes(t, &r, st, st, st)
		first := ask(t, nodes[0])
		for _, n := range nodes {
			if got := ask(t, n); got != first {
				t.Errorf("node %s sees %v, another %v", n.ID(), got, first)
			}
		}
		at := byID(nodes, first.Node)
		if err := nodes[at].Stop(t.Context()); err != nil {
			t.Error(err)
		}
		begun := time.Now()
		second := ask(t, nodes[(at+1)%3])
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("after a stop of its node the service was back after %v", took)
		}
		if second.Node == first.Node || second.Token <= first.Token || r.most.Load() != 1 {
			t.Errorf("it ran as %v, then as %v, on %d nodes at once", first, second, r.most.Load())
		}
	})
}

func TestAServiceMovesWhenItsNodeIsCutOffFromTheStore(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r running
		shared := store.Memory()
		stores := []*cut{{Store: shared}, {Store: shared}}
		nodes := sabirtest.Cluster(t, mayRun(&r, stores[0]), mayRun(&r, stores[1]), nil)
		caller := nodes[2]
		first := ask(t, caller)
		at := byID(nodes, first.Node)
		stores[at].cutOff()
		begun := time.Now()
		for here := first.Node; here == first.Node; time.Sleep(10 * time.Millisecond) {
			answer, err := where.Call(t.Context(), caller, sabir.Empty{})
			if failed := sabir.AsError(err); err == nil {
				here = answer.Node
			} else if !failed.Retryable {
				t.Fatalf("while the service was on its way a caller got %v, which is not retryable", err)
			}
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("the service was elsewhere after %v", took)
		}
		if r.most.Load() != 1 {
			t.Errorf("it ran on %d nodes at once", r.most.Load())
		}
		stores[at].restore()
	})
}

func TestHandlersThatRunWhenTheLeaseIsLostAreEndedAndNewCallsRefused(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		st := &cut{Store: store.Memory()}
		slow := sabir.NewAction[sabir.Empty, sabir.Empty]("mailer.slow")
		mailer := sabir.NewService("mailer", sabir.Once())
		started := make(chan struct{}, 1)
		slow.Handle(mailer, func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
			started <- struct{}{}
			<-ctx.Done()
			return sabir.Empty{}, ctx.Err()
		})
		n := sabirtest.Start(t, leases(st).Option(), sabir.Serve(mailer))
		if err := n.WaitFor(t.Context(), "mailer"); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() {
			_, err := slow.Call(t.Context(), n, sabir.Empty{})
			ended <- err
		}()
		<-started
		st.cutOff()
		var failed *sabir.Error
		if err := <-ended; !errors.Is(err, lease.ErrLost) || !errors.As(err, &failed) || failed.Retryable {
			t.Errorf("the call that ran got %v; want LeaseLost, not retryable since it had begun", err)
		}
		if _, err := slow.Call(t.Context(), n, sabir.Empty{}); !errors.As(err, &failed) || !failed.Retryable {
			t.Errorf("a call after the loss got %v, which should be retryable", err)
		}
		st.restore()
	})
}

func TestAServiceThatCannotStartLeavesItsLeaseToAnotherNode(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r, none running
		st := store.Memory()
		broken := none.mailer(sabir.OnStart(func(context.Context) error { return errors.New("no database here") }))
		nodes := sabirtest.Cluster(t, []sabir.NodeOption{leases(st).Option(), sabir.Serve(broken)}, mayRun(&r, st))
		if got := ask(t, nodes[0]); got.Node != nodes[1].ID() {
			t.Errorf("it runs on %v", got)
		}
	})
}

func TestANodeThatCannotHaveTheLeaseDoesNotStart(t *testing.T) {
	var r running
	for says, options := range map[string][]sabir.NodeOption{
		"lease.New(": nil,
		"store.Open": {lease.New(nil, lease.Config{}).Option()},
	} {
		err := sabir.NewNode(append(options, sabir.Serve(r.mailer()))...).Start(t.Context())
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the start ended in %v, which does not say %q", err, says)
		}
	}
}

func TestAServiceThatDependsOnOneThatRunsElsewhereStarts(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r running
		sabirtest.Start(t, leases(store.Memory()).Option(), sabir.Serve(sabir.NewService("orders", sabir.DependsOn(sabir.ServiceName("mailer"))), r.mailer()))
	})
}

func TestTheLeaseIsHeldUntilTheServiceHasStopped(t *testing.T) {
	st := store.Memory()
	held, entered, goOn := make(chan bool, 1), make(chan struct{}), make(chan struct{})
	s := sabir.NewService("mailer", sabir.Once(), sabir.OnStop(func(ctx context.Context) error {
		close(entered)
		<-goOn
		_, ok, err := leases(st).Holder(ctx, "service mailer")
		held <- ok && err == nil
		return nil
	}))
	where.Handle(s, func(ctx context.Context, _ sabir.Empty) (ran, error) { return ran{}, nil })
	nodes := sabirtest.Cluster(t, []sabir.NodeOption{leases(st).Option(), sabir.Serve(s)})
	ask(t, nodes[0])
	removed := make(chan error)
	go func() { removed <- nodes[0].Remove(context.Background(), s) }()
	<-entered
	for range 1000 { // where the lease is given back too early, that takes no time
		runtime.Gosched()
	}
	close(goOn)
	if !<-held {
		t.Error("the lease was free while the service was still stopping")
	}
	if err := <-removed; err != nil {
		t.Error(err)
	}
}

func TestAServiceThatRunsOnceIsRemovedAndAdded(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r running
		mailer := r.mailer()
		n := sabirtest.Start(t, leases(store.Memory()).Option(), sabir.Serve(mailer))
		first := ask(t, n)
		if err := n.Remove(t.Context(), mailer); err != nil {
			t.Fatal(err)
		}
		if _, err := where.Call(t.Context(), n, sabir.Empty{}); !errors.Is(err, sabir.ErrActionNotFound) {
			t.Errorf("after its removal a call got %v", err)
		}
		if err := n.Add(t.Context(), mailer); err != nil {
			t.Fatal(err)
		}
		if second := ask(t, n); second.Token != first.Token+1 {
			t.Errorf("token %d, then %d", first.Token, second.Token)
		}
	})
}

func TestACallOfAServiceThatHasLostItsLeaseSaysWhereItWaits(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var r running
		st := &cut{Store: store.Memory()}
		nodes := sabirtest.Cluster(t, mayRun(&r, st), nil)
		ask(t, nodes[1])
		st.cutOff()
		time.Sleep(10 * time.Second) // the lease is lost
		_, err := where.Call(t.Context(), nodes[1], sabir.Empty{})
		if want := "no node offers mailer.where now: mailer waits on node-1 until it may start"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v; want %s", err, want)
		}
		st.restore()
	})
}
