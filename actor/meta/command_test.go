//go:build unix

package meta_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/meta"
)

// sh starts a shell command from the owner's process.
func (o owned) sh(script string, c meta.Command) actor.PID {
	o.t.Helper()
	var pid actor.PID
	c.Path, c.Args = "/bin/sh", []string{"-c", script}
	o.do(func(p *actor.Process) (err error) {
		pid, err = c.Start(p)
		return err
	})
	return pid
}

func TestACommandSendsItsLinesAndThenItsStatus(t *testing.T) {
	o := newOwner(t, newSystem(t))
	pid := o.sh("echo one; echo two; printf three; exit 3", meta.Command{})
	for _, want := range []string{"one", "two", "three"} {
		if got := nextOf[meta.Output](t, o.received); string(got.Bytes) != want || got.Stderr || got.Cut || got.Command != pid {
			t.Errorf("%+v, not %s", got, want)
		}
	}
	if got := nextOf[meta.Exited](t, o.received); got != (meta.Exited{Command: pid, Code: 3, State: "exit status 3"}) {
		t.Errorf("%+v", got)
	}
}

func TestStderrIsDistinguishedFromStdout(t *testing.T) {
	o := newOwner(t, newSystem(t))
	o.sh("echo bad >&2", meta.Command{})
	if got := nextOf[meta.Output](t, o.received); string(got.Bytes) != "bad" || !got.Stderr {
		t.Errorf("%+v", got)
	}
	nextOf[meta.Exited](t, o.received)
}

func TestALongLineComesInPieces(t *testing.T) {
	o := newOwner(t, newSystem(t))
	o.sh("printf '%040d\\nshort\\n' 7", meta.Command{MaxLine: 16})
	var got []string
	for range 4 {
		m := nextOf[meta.Output](t, o.received)
		got = append(got, string(m.Bytes)+" "+strconv.FormatBool(m.Cut))
	}
	zeros := strings.Repeat("0", 16)
	if want := zeros + " true," + zeros + " true,00000007 false,short false"; strings.Join(got, ",") != want {
		t.Errorf("%q, not %q", strings.Join(got, ","), want)
	}
	nextOf[meta.Exited](t, o.received)
}

func TestACommandReadsInputs(t *testing.T) {
	s := newSystem(t)
	o := newOwner(t, s)
	pid := o.sh("cat", meta.Command{Chunks: true})
	actor.Send(s, pid, meta.Input{Bytes: []byte("a\nb")})
	actor.Send(s, pid, meta.Input{Bytes: []byte("c"), Close: true})
	var got []byte
	for len(got) < 4 {
		got = append(got, nextOf[meta.Output](t, o.received).Bytes...)
	}
	if string(got) != "a\nbc" {
		t.Errorf("%q", got)
	}
	nextOf[meta.Exited](t, o.received)
}

func TestACommandEndsWithItsOwnerAndAllThatItHasStarted(t *testing.T) {
	for name, script := range map[string]string{
		"that sleeps":              `sleep 1000 & echo $! $$; wait`,
		"that ignores to be asked": `trap "" TERM; sleep 1000 & echo $! $$; wait; wait; sleep 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newSystem(t)
			o, other := newOwner(t, s), newOwner(t, s)
			pid := o.sh(script, meta.Command{Grace: 1e6})
			numbers := strings.Fields(string(nextOf[meta.Output](t, o.received).Bytes))
			other.watches(pid)
			s.Kill(o.pid)
			nextOf[actor.Down](t, other.received)
			for _, n := range numbers {
				number, _ := strconv.Atoi(n)
				for alive(number) {
				}
			}
		})
	}
}

// alive reports whether an OS process runs; one that was not waited for does not.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if errors.Is(err, os.ErrNotExist) {
		return syscall.Kill(pid, 0) == nil && err == nil
	}
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestACommandThatDoesNotReadDoesNotOutliveItsOwner(t *testing.T) {
	s := newSystem(t)
	o, other := newOwner(t, s), newOwner(t, s)
	pid := o.sh("sleep 1000", meta.Command{})
	actor.Send(s, pid, meta.Input{Bytes: make([]byte, 1<<20)})
	other.watches(pid)
	s.Kill(o.pid)
	nextOf[actor.Down](t, other.received)
}

func TestACommandIsHeldUpWhileItsOutputIsNotRead(t *testing.T) {
	s := newSystem(t)
	o := newOwner(t, s)
	o.sh("yes", meta.Command{Window: 8})
	o.do(func(p *actor.Process) error {
		for p.System().Waiting(p.PID()) < 8 { // until it is full
			runtime.Gosched()
		}
		for range 10_000 {
			if n := p.System().Waiting(p.PID()); n > 8+1 { // stdout and stderr look by themselves
				return fmt.Errorf("%d messages wait, of a window of 8", n)
			}
			runtime.Gosched()
		}
		return nil
	})
	s.Kill(o.pid)
}

func TestWhatCommandsRefuse(t *testing.T) {
	s := newSystem(t)
	o := newOwner(t, s)
	for name, c := range map[string]struct {
		from    actor.Sender
		command meta.Command
	}{
		"no such program":          {s, meta.Command{Path: "/no/such/program", To: o.pid}},
		"a system without To":      {s, meta.Command{Path: "/bin/true"}},
		"a negative line":          {s, meta.Command{Path: "/bin/true", To: o.pid, MaxLine: -1}},
		"a folder that is not one": {s, meta.Command{Path: "/bin/true", To: o.pid, Dir: "/no/such/folder"}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := c.command.Start(c.from); err == nil {
				t.Error("no error")
			}
		})
	}
}
