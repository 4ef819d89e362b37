//go:build unix

package sabir_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
)

// asRun is the variable that makes the test binary a process with a node that never gets to run.
const asRun = "SABIR_TEST_RUN"

func init() {
	if os.Getenv(asRun) != "" {
		runUnstarted()
		os.Exit(0)
	}
}

// runUnstarted runs a node with a service that waits for another one, and with one whose stop takes all the time that it is given.
func runUnstarted() {
	started := sabir.NewService("started",
		sabir.OnStart(func(context.Context) error { fmt.Println("started"); return nil }),
		sabir.OnStop(func(ctx context.Context) error { fmt.Println("stops"); <-ctx.Done(); return nil }))
	waits := sabir.NewService("waits", sabir.DependsOn(sabir.ServiceName("missing")))
	node := sabir.NewNode(sabir.Serve(started, waits), sabir.Logger(quiet), sabir.Limits{StopTimeout: time.Hour})
	fmt.Println(node.Run(context.Background()))
}

func TestASecondSignalEndsAProcessWhoseStartWasBrokenOff(t *testing.T) {
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), asRun+"=1")
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	defer process.Process.Kill()
	lines := bufio.NewScanner(out)
	for _, want := range []string{"started", "stops"} {
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("the process says %q, want %q", lines.Text(), want)
		}
		if err := process.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan struct{})
	go func() {
		process.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the process goes on after the second signal")
	}
	if status := process.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGTERM {
		t.Errorf("the process ended with %v, want the signal", process.ProcessState)
	}
}
