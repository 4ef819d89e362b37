//go:build unix

package brokers

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is a child that leads a process group of its own.
type process struct {
	command *exec.Cmd
	ended   chan struct{}
}

// launch starts a command whose output is appended to the log file.
func launch(command *exec.Cmd, log string) (*process, error) {
	output, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer output.Close()
	command.Stdout, command.Stderr = output, output
	command.SysProcAttr = attributes()
	p := &process{command: command, ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel takes the end of the thread that forked for the end of the parent: prctl(2), PR_SET_PDEATHSIG.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err == nil {
			command.Wait()
			// What it started may not be gone yet. At once, while no other process can have its number.
			syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		}
		close(p.ended)
	}()
	return p, <-started
}

func (p *process) pid() int { return p.command.Process.Pid }

// signal sends to the whole group, unless it has ended.
func (p *process) signal(s syscall.Signal) error {
	select {
	case <-p.ended:
		return errors.New("the process has ended")
	default:
		return syscall.Kill(-p.pid(), s)
	}
}

// end sends the signal and returns when the process is gone. One that does not go within 20 seconds is killed.
func (p *process) end(by syscall.Signal) error {
	if p.signal(by) != nil {
		return nil // there is nothing left to end
	}
	p.resume() // a process that stands still takes no signal but SIGKILL
	select {
	case <-p.ended:
		return nil
	case <-time.After(20 * time.Second):
	}
	err := p.signal(syscall.SIGKILL)
	<-p.ended
	return err
}

// suspend returns when the process stands still.
func (p *process) suspend() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return awaitStopped(p.pid())
}

// Suspend stops a process by SIGSTOP and returns when all its threads stand still. A test that did not wait
// would now and then get an answer of a process that it takes for stopped.
func Suspend(p *os.Process) error {
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return awaitStopped(p.Pid)
}

func (p *process) resume() error { return p.signal(syscall.SIGCONT) }
