//go:build unix

// Package faults_test shows what a cluster of real processes does when one of them is killed, stopped or restarted, when
// the network between them loses packets or splits, and when strangers knock at a node. The test binary runs itself as
// the nodes. What needs no process of its own is tested elsewhere: behaviour over every transport in package conformance,
// hostile bytes in package wire.
package faults_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/internal/brokers"
)

// TestMain runs the tests, or a node where the process was started as one. It finds goroutines left behind.
func TestMain(m *testing.M) {
	if text := os.Getenv(setupVariable); text != "" {
		os.Exit(beNode(text))
	}
	if text := os.Getenv(chaosVariable); text != "" {
		os.Exit(beChaotic(text))
	}
	if text := os.Getenv(poisonVariable); text != "" {
		os.Exit(bePoisoned(text))
	}
	flag.Parse()
	if testing.Short() { // all of them start processes, and wait for what becomes of them
		fmt.Println("left out with -short")
		os.Exit(0)
	}
	_ = flag.Set("test.parallel", "4") // whatever the number of processors: those that are parallel wait most of the time
	// KCP's library has one scheduler for the process, which starts with it and never ends.
	endless := []goleak.Option{goleak.IgnoreTopFunction("github.com/xtaci/kcp-go/v5.(*TimedSched).sched"),
		goleak.IgnoreTopFunction("github.com/xtaci/kcp-go/v5.(*TimedSched).prepend")}
	goleak.VerifyTestMain(brokers.Stopping(m, endless...), endless...)
}
