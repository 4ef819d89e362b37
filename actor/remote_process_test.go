package actor_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

// childVariable makes the test binary a node in a process of its own, with the id that it holds.
const childVariable = "SABIR_ACTOR_TEST_NODE"

// TestRemoteNodeInAProcessOfItsOwn is run by startChild. It is no test without that.
func TestRemoteNodeInAProcessOfItsOwn(t *testing.T) {
	id := os.Getenv(childVariable)
	if id == "" {
		return
	}
	s := actor.NewSystem(actor.Config{Logger: quiet})
	n := sabir.NewNode(sabir.NodeID(id), sabir.Logger(quiet), s.Option(), sabir.Join("tcp://127.0.0.1:0"))
	if err := n.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	stuckBehavior.AllowRemoteSpawn(s)
	for _, name := range []string{"sink", "sink1"} {
		if _, err := actor.Spawn(s, sinkBehavior, struct{}{}, actor.SpawnConfig{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := actor.Spawn(s, witnessBehavior, make(chan any, 100_000), actor.SpawnConfig{Name: "witness"}); err != nil {
		t.Fatal(err)
	}
	fmt.Println("address " + n.Info().Addr)
	select {} // until it is killed
}

// child is a node in a process of its own.
type child struct {
	cmd     *exec.Cmd
	address string
}

func startChild(t testing.TB, id string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0], "-test.run=^TestRemoteNodeInAProcessOfItsOwn$", "-test.v")}
	c.cmd.Env = append(os.Environ(), childVariable+"="+id)
	output, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	watchdog := time.AfterFunc(testTimeout, func() { _ = c.cmd.Process.Kill() })
	defer watchdog.Stop()
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if _, err := fmt.Sscanf(lines.Text(), "address %s", &c.address); err == nil {
			return c
		}
	}
	t.Fatal("the other process did not start")
	return nil
}

// kill ends the process as kill -9 does.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// stuck is a process whose Init does not end.
type stuck struct{}

var stuckBehavior = actor.Define("stuck", func(_ *stuck, _ *actor.Process, started actor.PID) error {
	select {}
})
