package conformance

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/introspect"
	"github.com/sabir-go/sabir/secret"
)

// asNode is the variable that makes the test binary a node, which a test can kill: the transport, the meeting address, the
// cluster and the node's name.
const asNode = "SABIR_CONFORMANCE_NODE"

// Main is for TestMain, before m.Run: it becomes a node where the binary was started as one, and returns otherwise. It must
// know every transport whose Processes is set.
func Main(transports ...Transport) {
	line := os.Getenv(asNode)
	if line == "" {
		return
	}
	fmt.Fprintln(os.Stderr, childNode(strings.Split(line, "\n"), transports))
	os.Exit(1)
}

// childNode is a node until its standard input ends, which it does with the parent.
func childNode(what []string, transports []Transport) error {
	if len(what) != 4 {
		return errors.New(asNode + " wants a transport, an address, a cluster and a name")
	}
	for _, tr := range transports {
		if tr.Name != what[0] {
			continue
		}
		service := hanging("child", nil)
		sabir.Handle(service, "pid", func(context.Context, int) (int, error) { return os.Getpid(), nil })
		joins := append([]cluster.Option{cluster.Config{Name: what[2], Key: secret.New(tr.Key)}}, tr.Options...)
		n := sabir.NewNode(sabir.NodeID(what[3]), sabir.Logger(quiet), sabir.Serve(service), sabir.Join(what[1], joins...))
		if err := n.Start(context.Background()); err != nil {
			return err
		}
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return errors.New("the parent has gone")
	}
	return fmt.Errorf("no transport is called %q", what[0])
}

// child starts a node of the cluster in a process of its own; kill ends it with SIGKILL.
func (c *testCluster) child(t *testing.T, id string) (pid int, kill func()) {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), asNode+"="+strings.Join([]string{c.suite.Name, c.meet, c.name, id}, "\n"))
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	must(t, err)
	output, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	kill = func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		_ = input.Close()
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil || line != "ready\n" {
		t.Fatalf("the process does not become a node: %q, %v", line, err)
	}
	return command.Process.Pid, kill
}

func killedProcess(t *testing.T, s *suite) {
	if !s.Processes {
		t.Skip("links of this transport end in this process, or its options do not go to another")
	}
	c := s.cluster(t)
	a := c.start("a")
	pid, kill := c.child(t, "child")
	must(t, a.WaitFor(brief(t), "child"))
	if out, err := sabir.Call[int](brief(t), a, "child.pid", 1); err != nil || out != pid {
		t.Fatalf("the process %d says that it is %d, %v", pid, out, err)
	}
	failed := make(chan error, 10)
	for range cap(failed) {
		go func() {
			_, err := sabir.Call[int](context.Background(), a, "child.hang", 1)
			failed <- err
		}()
	}
	eventually(t, "the calls are being handled", func() bool {
		info, err := sabir.Call[introspect.Node](brief(t), a, "$node.info", sabir.Empty{}, sabir.ToNode("child"))
		return err == nil && info.Load.InFlight >= cap(failed)
	})
	kill()
	killed := time.Now()
	for range cap(failed) {
		if err := get(t, "the error", failed); !errors.Is(err, sabir.ErrLinkLost) {
			t.Errorf("got %v", err)
		}
	}
	if took := time.Since(killed); took > s.noticed() {
		t.Errorf("the calls failed after %v", took)
	}
	within(t, max(3*time.Second, s.noticed())-time.Since(killed), "the process is gone from the listings", func() bool {
		return !sees(a, "child") && !offers(a, "child", "child")
	})
}

func restartedProcess(t *testing.T, s *suite) {
	if !s.Processes {
		t.Skip("links of this transport end in this process, or its options do not go to another")
	}
	c := s.cluster(t)
	a := c.start("a")
	for range 2 {
		pid, kill := c.child(t, "child")
		within(t, waitLimit, "the process can be called", func() bool {
			out, err := sabir.Call[int](brief(t), a, "child.pid", 1)
			return err == nil && out == pid
		})
		kill()
	}
}
