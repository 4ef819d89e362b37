//go:build unix

package sabir_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
)

// asRun is the variable that makes the test binary a process with a node that never gets to run.
const asRun = "SABIR_TEST_RUN"

func init() {
	if how := os.Getenv(asRun); how != "" {
		runUnstarted(how)
		os.Exit(0)
	}
}

// runUnstarted runs a node with a service that waits for another one, and with one whose stop takes all the time that it is given, or none.
func runUnstarted(how string) {
	started := sabir.NewService("started",
		sabir.OnStart(func(context.Context) error { fmt.Println("started"); return nil }),
		sabir.OnStop(func(ctx context.Context) error {
			fmt.Println("stops")
			if how == "slow" {
				<-ctx.Done()
			}
			return nil
		}))
	waits := sabir.NewService("waits", sabir.DependsOn(sabir.ServiceName("missing")))
	node := sabir.NewNode(sabir.Serve(started, waits), sabir.Logger(quiet), sabir.Limits{StopTimeout: time.Hour})
	fmt.Println(node.Run(context.Background()))
}

func TestASecondSignalEndsAProcessWhoseStartWasBrokenOff(t *testing.T) {
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), asRun+"=slow")
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

func TestTheErrorOfAStartThatASignalBrokeOffNamesTheSignal(t *testing.T) {
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), asRun+"=quick")
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	defer process.Process.Kill()
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "started" {
	}
	if err := process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var last string
	for lines.Scan() {
		last = lines.Text()
	}
	const want = "the start was broken off, as the process got a signal to stop: ServiceUnavailable: gave up waiting for services"
	if err := process.Wait(); err != nil || !strings.HasPrefix(last, want) {
		t.Errorf("the process ended with %v and the error %q, want %q", err, last, want)
	}
}
