package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/lab/http/ask"
)

// errGone is the error of a server whose process ended before it listened. process.explain adds the reason.
var errGone = errors.New("the server ended")

// process is a server that is started here, for a moment.
type process struct {
	address string
	command *exec.Cmd
	said    bytes.Buffer // to be read when it has ended
	ended   chan struct{}
}

// startServer starts a server on a free port of this machine.
func startServer(job ask.Job) (*process, error) {
	address, err := brokers.FreeAddress("tcp")
	if err != nil {
		return nil, err
	}
	line := append(append(append([]string{}, job.Command...), address), job.Arguments...)
	p := &process{address: address, command: exec.Command(line[0], line[1:]...), ended: make(chan struct{})}
	p.command.Dir, p.command.Env = job.Dir, append(os.Environ(), job.Env...)
	p.command.Stdout, p.command.Stderr, p.command.WaitDelay = &p.said, &p.said, time.Second
	endsWithThis(p.command)
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	go func() {
		defer close(p.ended)
		p.command.Wait()
	}()
	return p, nil
}

// connect waits until the server takes a connection.
func (p *process) connect() (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	return listening(ctx, p.address, p.ended)
}

// explain adds to an error that the server ended, and what it said, where it did.
func (p *process) explain(err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-p.ended:
		said := strings.Join(strings.Fields(p.said.String()), " ")
		if said == "" {
			said = "nothing"
		}
		return fmt.Errorf("%w (%s). It said: %.400s", err, p.command.ProcessState, said)
	default:
		return err
	}
}

// stop ends the process and waits until it is gone.
func (p *process) stop() {
	p.command.Process.Kill()
	<-p.ended
}

// resident is the memory that the process has now, in bytes, from Linux's /proc.
func (p *process) resident() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.command.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("the server's memory: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); name == "VmRSS" {
			kilobytes, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
			return kilobytes * 1024, err
		}
	}
	return 0, errors.New("the server's memory: /proc/PID/status has no VmRSS")
}
