package brokers

import (
	"bufio"
	"os/exec"
	"testing"
	"time"
)

// programLimit is how long a program of a test may run. It is only ever reached by one that hangs, whose test would wait for its next line.
const programLimit = 3 * time.Minute

// Run starts a program that is ended with the test, and returns what it prints. What it says on its standard error is the test's output. After
// three minutes it is killed, so that reading its lines ends.
func Run(t testing.TB, command *exec.Cmd) *bufio.Reader {
	t.Helper()
	command.Stderr = t.Output()
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(programLimit, func() { _ = command.Process.Kill() })
	t.Cleanup(func() {
		late.Stop()
		_ = command.Process.Kill()
		_ = command.Wait() // killed
	})
	return bufio.NewReader(out)
}
