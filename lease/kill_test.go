package lease_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor/grain/store"
	_ "github.com/sabir-go/sabir/broker/nats"
	_ "github.com/sabir-go/sabir/broker/redis"
	"github.com/sabir-go/sabir/internal/brokers"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

// nodeVariable is the environment variable that makes the test binary a node that may run the mailer: its id, the address to join at, and
// that of the store.
const nodeVariable = "SABIR_LEASE_NODE"

func beNode(text string) {
	part := strings.Split(text, " ")
	st, err := store.Open(context.Background(), part[2])
	if err == nil {
		var r running
		node := sabir.NewNode(sabir.NodeID(part[0]), sabir.Serve(r.mailer()), leases(st).Option(), sabir.Join(part[1]), sabir.Logger(quiet))
		err = node.Run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestAServiceMovesWhenItsProcessIsKilled(t *testing.T) {
	brokers.Long(t)
	for _, kind := range []brokers.Kind{brokers.Redis, brokers.NATS} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			at := brokers.ForTest(t, kind).URL()
			address, err := brokers.FreeAddress("tcp")
			if err != nil {
				t.Fatal(err)
			}
			join := "tcp://" + address
			caller := sabir.NewNode(sabir.NodeID("caller"), sabir.Logger(quiet), sabir.Join(join))
			if err := caller.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer caller.Stop(context.Background())
			processes := make(map[string]*exec.Cmd)
			for _, id := range []string{"first", "second", "third"} {
				p := exec.Command(os.Args[0])
				p.Env = append(os.Environ(), nodeVariable+"="+id+" "+join+" "+at)
				p.Stderr = os.Stderr
				if err := p.Start(); err != nil {
					t.Fatal(err)
				}
				processes[id] = p
				t.Cleanup(func() {
					_ = p.Process.Kill()
					_ = p.Wait()
				})
			}
			for len(caller.Nodes()) < 4 {
				time.Sleep(10 * time.Millisecond)
			}
			var took []time.Duration
			before := askProcess(t, caller)
			for range 2 {
				if err := processes[before.Node].Process.Kill(); err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				after := askProcess(t, caller)
				took = append(took, time.Since(begun))
				if after.Node == before.Node || after.Token <= before.Token {
					t.Errorf("it ran as %v, then as %v", before, after)
				}
				before = after
			}
			t.Logf("after kill -9 of its process the service answered elsewhere after %v", took)
			if slices.Max(took) > 30*time.Second { // five are promised on a machine that has time for it
				t.Errorf("that took too long")
			}
		})
	}
}

// askProcess calls the mailer until it answers.
func askProcess(t *testing.T, from *sabir.Node) ran {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		answer, err := where.Call(ctx, from, sabir.Empty{}, sabir.WaitForNode(time.Second))
		if err == nil {
			return answer
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}
