package rediscache_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/policy"
	"github.com/sabir-go/sabir/policy/rediscache"
)

// asNode is the variable of the environment that makes the test's program a node, which calls what its cache keeps in
// the Redis at that address.
const asNode = "SABIR_TEST_CACHE_NODE"

// leaseOfNode is the variable that sets its rediscache.Lease.
const leaseOfNode = "SABIR_TEST_CACHE_LEASE"

func TestMain(m *testing.M) {
	if address := os.Getenv(asNode); address != "" {
		runNode(address)
		return
	}
	goleak.VerifyTestMain(brokers.Stopping(m))
}

// runNode makes 1000 calls at once for each line that it reads, and writes how many times the handler ran. On the line
// "hold" it makes one call, whose handler reports so and never returns.
func runNode(address string) {
	lease, err := time.ParseDuration(os.Getenv(leaseOfNode))
	if err != nil {
		panic(err)
	}
	store, err := rediscache.Open(rediscache.Config{URL: address, Name: "test", Timeout: longTimeout, Lease: lease})
	if err != nil {
		panic(err)
	}
	var runs atomic.Int32
	s := sabir.NewService("users")
	sabir.Handle(s, "get", func(_ context.Context, id string) (string, error) {
		runs.Add(1)
		if id == "hold" {
			fmt.Println("holding")
			select {}
		}
		time.Sleep(50 * time.Millisecond) // the work
		return "answer for " + id, nil
	}, sabir.Use(policy.Cached{Cache: &policy.Cache{Store: store}}))
	node := sabir.NewNode(sabir.Serve(s))
	if err := node.Start(context.Background()); err != nil {
		panic(err)
	}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		calls := 1000
		if lines.Text() == "hold" {
			calls = 1
		}
		runs.Store(0)
		var wg sync.WaitGroup
		for range calls {
			wg.Go(func() {
				if out, err := sabir.Call[string](context.Background(), node, "users.get", lines.Text()); err != nil || out != "answer for "+lines.Text() {
					panic(fmt.Sprint(out, err))
				}
			})
		}
		wg.Wait()
		fmt.Println(runs.Load())
	}
}
