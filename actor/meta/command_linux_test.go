package meta_test

import (
	"strconv"
	"syscall"
	"testing"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/meta"
)

// daemon is a script that starts a process which leaves the group, says its number and keeps its pipes, and ends when it has read a line.
const daemon = `setsid /bin/sh -c 'echo $$; exec sleep 1000' <&0 & read line; exit 3`

// killed ends the process of a daemon with the test.
func killed(t *testing.T, o meta.Output) {
	number, err := strconv.Atoi(string(o.Bytes))
	if err != nil {
		t.Fatalf("%q is no process", o.Bytes)
	}
	t.Cleanup(func() { _ = syscall.Kill(number, syscall.SIGKILL) })
}

func TestACommandThatLeavesADaemonBehindHasEnded(t *testing.T) {
	s := newSystem(t)
	o := newOwner(t, s)
	pid := o.sh(daemon, meta.Command{})
	killed(t, nextOf[meta.Output](t, o.received))
	if err := actor.Send(s, pid, meta.Input{Bytes: []byte("\n")}); err != nil {
		t.Fatal(err)
	}
	if got := nextOf[meta.Exited](t, o.received); got.Code != 3 {
		t.Errorf("%+v", got)
	}
}
