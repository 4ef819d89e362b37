package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// process is a child as its parent sees it.
type process struct {
	what    string
	command *exec.Cmd
	orders  io.WriteCloser
	reports chan report // closed when the child ends
	said    *tail
}

// startChild runs this program as a child. ctx ends it.
func startChild(ctx context.Context, o order) (*process, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("the path of this program: %w", err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &process{what: o.Contender + ", " + o.Scenario + ", " + o.Role, command: exec.CommandContext(ctx, self), reports: make(chan report, 1), said: new(tail)}
	p.command.Env = append(os.Environ(), roleVariable+"="+string(text))
	p.command.ExtraFiles = []*os.File{write}
	p.command.Stdout, p.command.Stderr = p.said, p.said
	p.orders, err = p.command.StdinPipe()
	if err == nil {
		err = p.command.Start()
	}
	write.Close()
	if err != nil {
		read.Close()
		return nil, fmt.Errorf("start %s: %w", p.what, err)
	}
	go func() {
		defer close(p.reports)
		defer read.Close()
		for decoder := json.NewDecoder(read); ; {
			var r report
			if decoder.Decode(&r) != nil {
				return
			}
			p.reports <- r
		}
	}()
	return p, nil
}

// next waits for the child's next report.
func (p *process) next(ctx context.Context) (report, error) {
	select {
	case r, ok := <-p.reports:
		if !ok {
			return r, fmt.Errorf("%s ended too early. It said: %s", p.what, p.said)
		}
		if r.Error != "" {
			return r, fmt.Errorf("%s: %s", p.what, r.Error)
		}
		return r, nil
	case <-ctx.Done():
		return report{}, fmt.Errorf("%s did not answer in time: %w", p.what, context.Cause(ctx))
	}
}

// tell gives an order.
func (p *process) tell(what string) error {
	if _, err := io.WriteString(p.orders, what+"\n"); err != nil {
		return fmt.Errorf("%s: order %q: %w. It said: %s", p.what, what, err, p.said)
	}
	return nil
}

// ask gives an order and waits for the report on it.
func (p *process) ask(ctx context.Context, what string) (report, error) {
	if err := p.tell(what); err != nil {
		return report{}, err
	}
	return p.next(ctx)
}

// stopPatience is how long a child may take to stop its node before it is killed.
const stopPatience = 3 * time.Second

// stop ends the child and waits until it is gone.
func (p *process) stop() {
	p.orders.Close()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range p.reports {
		}
		p.command.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(stopPatience):
		p.command.Process.Kill()
		<-ended
	}
}

// runOnce measures one contender in one scenario once, in processes of its own.
func runOnce(ctx context.Context, s scenario, o order, patience time.Duration) (outcome, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it took longer than -patience %s", patience))
	defer cancel()
	if s.remote {
		return runOnTwo(ctx, o)
	}
	o.Role = roleAlone
	child, err := startChild(ctx, o)
	if err != nil {
		return outcome{}, err
	}
	defer child.stop()
	r, err := child.next(ctx)
	if err != nil {
		return outcome{}, err
	}
	if r.Outcome == nil {
		return outcome{}, fmt.Errorf("%s: a report without figures", child.what)
	}
	return *r.Outcome, nil
}

// runOnTwo measures between two nodes in two OS processes.
func runOnTwo(ctx context.Context, o order) (outcome, error) {
	addresses, err := freeAddresses()
	if err != nil {
		return outcome{}, err
	}
	o.Role, o.Address, o.Peer = rolePong, addresses[0], addresses[1]
	pong, err := startChild(ctx, o)
	if err != nil {
		return outcome{}, err
	}
	defer pong.stop()
	if _, err := pong.next(ctx); err != nil {
		return outcome{}, err
	}
	o.Role, o.Address, o.Peer = rolePing, addresses[1], addresses[0]
	ping, err := startChild(ctx, o)
	if err != nil {
		return outcome{}, err
	}
	defer ping.stop()
	if _, err := ping.next(ctx); err != nil {
		return outcome{}, err
	}
	sent, err := ping.ask(ctx, orderGo)
	if err != nil {
		return outcome{}, err
	}
	if o.Callers > 0 {
		if sent.Outcome == nil {
			return outcome{}, fmt.Errorf("%s: a report without figures", ping.what)
		}
		return *sent.Outcome, nil
	}
	come, err := pong.ask(ctx, orderGo)
	if err != nil {
		return outcome{}, err
	}
	said, err := ping.ask(ctx, orderProblems)
	if err != nil {
		return outcome{}, err
	}
	return outcome{Figures: []float64{o.perSecond(come.At.Sub(sent.At), come.Faults)}, Faults: come.Faults,
		Problems: slices.Concat(said.Problems, come.Problems)}, nil
}

// freeAddresses are two addresses with neighbouring ports that nobody listens at just now, nor at the port below them, which
// a contender may use too.
func freeAddresses() ([2]string, error) {
	const tries = 100
	for range tries {
		port := 20_000 + rand.IntN(10_000)
		if free(port) && free(port+1) && free(port+2) {
			return [2]string{fmt.Sprintf("127.0.0.1:%d", port+1), fmt.Sprintf("127.0.0.1:%d", port+2)}, nil
		}
	}
	return [2]string{}, errors.New("no three free ports in a row between 20000 and 30000")
}

func free(port int) bool {
	listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
	if err != nil {
		return false
	}
	listener.Close()
	return true
}

// tail keeps the last of what a child prints, for the error's text.
type tail struct {
	lock sync.Mutex
	kept []byte
}

// tailBytes is how much is kept.
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
	if text := strings.TrimSpace(string(t.kept)); text != "" {
		return text
	}
	return "nothing"
}
