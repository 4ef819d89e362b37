//go:build unix

package faults_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
)

// waitLimit is the time that a test waits for what should come at once, on a machine that has much else to do.
const waitLimit = time.Minute

// process is a node in a process of its own, as the test sees it. The test writes commands to its standard input, a line
// each, and reads an answer to each from its standard output.
type process struct {
	t    testing.TB
	id   string
	addr string // where its links are dialled
	cmd  *exec.Cmd
	log  *record       // its standard error
	gone chan struct{} // closed when it has ended

	mu      sync.Mutex
	input   io.WriteCloser
	last    int
	waiting map[int]chan answer
	ended   bool
}

// command is a line to a process.
type command struct {
	ID   int
	Do   string
	With json.RawMessage
}

// answer is a line from a process.
type answer struct {
	ID     int
	Answer json.RawMessage
	Error  string
}

// start runs a node in a process and waits until it has joined.
func start(t testing.TB, s setup) *process {
	t.Helper()
	p := launch(t, s)
	p.awaitStart()
	return p
}

// launch runs a node in a process. before goes in front of the command, such as one that enters a network namespace.
func launch(t testing.TB, s setup, before ...string) *process {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	line := append(before, os.Args[0])
	p := &process{t: t, id: s.ID, cmd: exec.Command(line[0], line[1:]...), log: &record{}, gone: make(chan struct{}), waiting: map[int]chan answer{}}
	p.cmd.Env = append(os.Environ(), setupVariable+"="+string(text))
	p.cmd.Stderr = p.log
	output, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	p.waiting[0] = make(chan answer, 1)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read(output)
	t.Cleanup(func() {
		p.signal(syscall.SIGCONT)
		p.kill()
		if log := p.log.String(); t.Failed() || strings.Contains(log, "panic:") || strings.Contains(log, "DATA RACE") {
			t.Errorf("the log of %s ends with:\n%s", p.id, log[max(0, len(log)-6000):])
		}
	})
	return p
}

func (p *process) awaitStart() {
	p.t.Helper()
	select {
	case a, ok := <-p.waiting[0]:
		if !ok {
			p.t.Fatalf("node %s did not start:\n%s", p.id, p.log)
		}
		if err := json.Unmarshal(a.Answer, &p.addr); err != nil {
			p.t.Fatal(err)
		}
	case <-time.After(waitLimit):
		p.t.Fatalf("node %s has not started in %v:\n%s", p.id, waitLimit, p.log)
	}
}

// read gives the answers to the waiting callers, until the process ends.
func (p *process) read(output io.Reader) {
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			_, _ = p.log.Write(append(lines.Bytes(), '\n'))
			continue
		}
		p.mu.Lock()
		waiting := p.waiting[a.ID]
		if a.ID != 0 {
			delete(p.waiting, a.ID)
		}
		p.mu.Unlock()
		if waiting != nil {
			waiting <- a
		}
	}
	_ = p.cmd.Wait() // how it ended is in ProcessState
	p.mu.Lock()
	p.ended = true
	for _, waiting := range p.waiting {
		close(waiting)
	}
	p.waiting = nil
	p.mu.Unlock()
	close(p.gone)
}

// begin gives the process a command and returns what waits for the answer.
func begin[T any](p *process, do string, with any) (wait func() T) {
	p.t.Helper()
	text, err := json.Marshal(with)
	if err != nil {
		p.t.Fatal(err)
	}
	answered := make(chan answer, 1)
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		p.t.Fatalf("%s has ended and cannot %s:\n%s", p.id, do, p.log)
	}
	p.last++
	p.waiting[p.last] = answered
	line, err := json.Marshal(command{p.last, do, text})
	if err == nil {
		_, err = p.input.Write(append(line, '\n'))
	}
	p.mu.Unlock()
	if err != nil {
		p.t.Fatalf("the order to %[2]s cannot be sent to %[1]s: %v", p.id, do, err)
	}
	return func() (result T) {
		p.t.Helper()
		select {
		case a, ok := <-answered:
			if !ok {
				p.t.Fatalf("%s ended while it was to %s:\n%s", p.id, do, p.log)
			}
			if a.Error != "" {
				p.t.Fatalf("%s: %s: %s", p.id, do, a.Error)
			}
			if err := json.Unmarshal(a.Answer, &result); err != nil {
				p.t.Fatal(err)
			}
		case <-time.After(2 * waitLimit):
			p.t.Fatalf("%s has not done its %s in %v", p.id, do, 2*waitLimit)
		}
		return result
	}
}

// ask gives the process a command and waits for its answer.
func ask[T any](p *process, do string, with any) T {
	p.t.Helper()
	return begin[T](p, do, with)()
}

// figures asks the process how it is.
func (p *process) figures() figures {
	p.t.Helper()
	return ask[figures](p, "figures", nil)
}

// awaitOffers waits until the process can call work.echo on exactly these nodes, and returns how long that took.
func (p *process) awaitOffers(nodes ...string) time.Duration {
	p.t.Helper()
	return ask[time.Duration](p, "await offers", append([]string{}, nodes...))
}

// awaitNodes waits until the process lists exactly these other nodes, and returns how long that took.
func (p *process) awaitNodes(nodes ...string) time.Duration {
	p.t.Helper()
	return ask[time.Duration](p, "await nodes", append([]string{}, nodes...))
}

func (p *process) signal(s syscall.Signal) {
	select {
	case <-p.gone:
	default:
		_ = p.cmd.Process.Signal(s) // that it has just ended is no fault
	}
}

// suspend returns when the process stands still.
func (p *process) suspend() {
	p.t.Helper()
	if err := brokers.Suspend(p.cmd.Process); err != nil {
		p.t.Fatalf("%s cannot be stopped: %v", p.id, err)
	}
}

// kill ends the process with SIGKILL and returns when it is gone.
func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	<-p.gone
}

// stop ends the process as a user would, with SIGTERM, and returns when it has stopped gracefully.
func (p *process) stop() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	if state := p.exit(); state.ExitCode() != 0 {
		p.t.Fatalf("%s stopped with %v:\n%s", p.id, state, p.log)
	}
}

// exit waits for the end of the process.
func (p *process) exit() *os.ProcessState {
	p.t.Helper()
	select {
	case <-p.gone:
	case <-time.After(waitLimit):
		p.t.Fatalf("%s has not ended in %v:\n%s", p.id, waitLimit, p.log)
	}
	return p.cmd.ProcessState
}

// record keeps the first megabyte that is written to it.
type record struct {
	mu   sync.Mutex
	text []byte
}

func (r *record) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.text) < 1<<20 {
		r.text = append(r.text, text...)
	}
	return len(text), nil
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.text)
}

// until asks again and again until the answer is yes, and returns how long that took. It is for what can only be asked.
func until(t testing.TB, limit time.Duration, what string, yes func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	if err := poll(limit, yes); err != nil {
		t.Fatalf("%s: not within %v", what, limit)
	}
	return time.Since(began)
}

var errNotYet = errors.New("not within the time limit")

func poll(limit time.Duration, yes func() bool) error {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(limit); !yes(); <-ticker.C {
		if time.Now().After(end) {
			return errNotYet
		}
	}
	return nil
}
