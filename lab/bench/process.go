package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// Process is a process that the lab has started. It may speak the protocol of package child, or not.
type Process struct {
	Role string // names its figures: "server", "client", "broker"

	group bool // its figures are those of all processes of its group

	command *exec.Cmd
	orders  io.WriteCloser
	reports chan child.Report // nil without the protocol; closed when the process has closed its side
	said    *tail
	ended   chan struct{} // closed when the process is gone
}

// Pin is the core that a process is to run on, with taskset, where the system has that and more than one core; see Pinned.
type Pin int

// Unpinned processes run where the system likes.
const Unpinned Pin = -1

// StartChild starts a program that speaks the protocol and waits until it is ready. When ctx ends it is killed.
func StartChild(ctx context.Context, p *Program, o child.Order, core Pin) (*Process, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	process, err := start(ctx, p, o.Role, core, func(c *exec.Cmd) {
		c.Env = append(c.Env, child.Variable+"="+string(text))
		c.ExtraFiles = []*os.File{write}
	})
	write.Close()
	if err != nil {
		read.Close()
		return nil, err
	}
	process.reports = make(chan child.Report, 1)
	go func() {
		defer close(process.reports)
		defer read.Close()
		for decoder := json.NewDecoder(read); ; {
			var r child.Report
			if decoder.Decode(&r) != nil {
				return
			}
			process.reports <- r
		}
	}()
	if _, err := process.next(ctx); err != nil {
		process.Stop()
		return nil, err
	}
	return process, nil
}

// StartProgram starts a program that does not speak the protocol, with arguments after its own. When ctx ends it is killed.
func StartProgram(ctx context.Context, p *Program, role string, core Pin, arguments ...string) (*Process, error) {
	return start(ctx, p, role, core, func(c *exec.Cmd) { c.Args = append(c.Args, arguments...) })
}

// Adopt is a process that somebody else has started, and ends, such as a broker. It leads a process group, which counts as one.
func Adopt(role string, pid int) (*Process, error) {
	found, err := os.FindProcess(pid)
	if err != nil {
		return nil, err
	}
	return &Process{Role: role, group: true, command: &exec.Cmd{Process: found}}, nil
}

func start(ctx context.Context, p *Program, role string, core Pin, prepare func(*exec.Cmd)) (*Process, error) {
	line := p.command
	if core != Unpinned && Pinned() {
		line = append([]string{"taskset", "-c", strconv.Itoa(int(core))}, line...)
	}
	process := &Process{Role: role, said: new(tail), ended: make(chan struct{})}
	c := exec.CommandContext(ctx, line[0], line[1:]...)
	c.Dir, c.Env, c.WaitDelay = p.dir, append(os.Environ(), p.env...), time.Second
	c.Stdout, c.Stderr = process.said, process.said
	prepare(c)
	var err error
	if process.orders, err = c.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, fmt.Errorf("start the %s: %w", role, err)
	}
	process.command = c
	go func() {
		defer close(process.ended)
		c.Wait()
	}()
	return process, nil
}

// PID is the process's id.
func (p *Process) PID() int { return p.command.Process.Pid }

// Ask says a line of the protocol and waits for the answer.
func (p *Process) Ask(ctx context.Context, line string) (child.Report, error) {
	if _, err := io.WriteString(p.orders, line+"\n"); err != nil {
		return child.Report{}, fmt.Errorf("the %s did not take %q: %w. It said: %s", p.Role, line, err, p.said)
	}
	return p.next(ctx)
}

// Measure has the process measure for d.
func (p *Process) Measure(ctx context.Context, d time.Duration) (child.Sample, error) {
	r, err := p.Ask(ctx, "measure "+strconv.FormatInt(int64(d), 10))
	if err != nil {
		return child.Sample{}, err
	}
	if r.Sample == nil {
		return child.Sample{}, fmt.Errorf("the %s measured nothing", p.Role)
	}
	return *r.Sample, nil
}

func (p *Process) next(ctx context.Context) (child.Report, error) {
	select {
	case r, ok := <-p.reports:
		if !ok {
			return r, p.Gone()
		}
		if r.Error != "" {
			return r, fmt.Errorf("the %s: %s", p.Role, r.Error)
		}
		return r, nil
	case <-ctx.Done():
		return child.Report{}, fmt.Errorf("the %s gave no answer: %w. It said: %s", p.Role, context.Cause(ctx), p.said)
	}
}

// Gone waits for the process's end, for a moment, and says how it ended and what it printed last.
func (p *Process) Gone() error {
	select {
	case <-p.ended:
		return fmt.Errorf("the %s ended (%s). It said: %s", p.Role, p.command.ProcessState, p.said)
	case <-time.After(time.Second):
		return fmt.Errorf("the %s has closed its reports. It said: %s", p.Role, p.said)
	}
}

// Ended is closed when the process is gone.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Said is the last of what the process has printed.
func (p *Process) Said() string { return p.said.String() }

// stopTimeout is the time in which a process must end after its orders have ended; then it is killed.
const stopTimeout = 3 * time.Second

// Stop ends the process and waits until it is gone.
func (p *Process) Stop() {
	if p.ended == nil {
		return // somebody else's
	}
	p.orders.Close()
	if p.reports == nil {
		p.command.Process.Kill()
	} else {
		go func() {
			for range p.reports { // so that a report under way does not hold it up
			}
		}()
	}
	select {
	case <-p.ended:
	case <-time.After(stopTimeout):
		p.command.Process.Kill()
		<-p.ended
	}
}

// processes is a Runner of processes of which the last measures. They are closed from the last to the first.
type processes []*Process

// Children opens a row of one or more children of programs, each started when the one before is ready: servers first. The
// last of them measures.
func Children(ctx context.Context, starts ...func(context.Context) (*Process, error)) (Runner, error) {
	var all processes
	for _, start := range starts {
		p, err := start(ctx)
		if err != nil {
			all.Close()
			return nil, err
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil, errors.New("no process to start")
	}
	return all, nil
}

// Child is a start for Children.
func Child(p *Program, o child.Order, core Pin) func(context.Context) (*Process, error) {
	return func(ctx context.Context) (*Process, error) { return StartChild(ctx, p, o, core) }
}

func (all processes) Measure(ctx context.Context, d time.Duration) (child.Sample, error) {
	return all[len(all)-1].Measure(ctx, d)
}

func (all processes) Processes() []*Process { return all }

func (all processes) Close() {
	for _, p := range slices.Backward(all) {
		p.Stop()
	}
}

// Fresh is a row that is opened anew for each measurement, and closed after it. Its CPU time and memory are not read from the
// system: where they matter, its samples have them.
func Fresh(open func(context.Context) (Runner, error)) Runner { return fresh(open) }

type fresh func(context.Context) (Runner, error)

func (open fresh) Measure(ctx context.Context, d time.Duration) (child.Sample, error) {
	r, err := open(ctx)
	if err != nil {
		return child.Sample{}, err
	}
	defer r.Close()
	return r.Measure(ctx, d)
}

func (fresh) Processes() []*Process { return nil }
func (fresh) Close()                {}

// tail keeps the last of what a process prints, for the text of an error.
type tail struct {
	lock sync.Mutex
	kept []byte
}

// tailBytes is the number of bytes that a tail keeps.
const tailBytes = 2000

func (t *tail) Write(data []byte) (int, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.kept = append(t.kept, data...)
	t.kept = t.kept[max(len(t.kept)-tailBytes, 0):]
	return len(data), nil
}

func (t *tail) String() string {
	t.lock.Lock()
	defer t.lock.Unlock()
	if text := strings.Join(strings.Fields(string(t.kept)), " "); text != "" {
		return text
	}
	return "nothing"
}
