package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir/brokers"

	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/peers"
)

// process is a child as its parent sees it.
type process struct {
	what    string
	command *exec.Cmd
	orders  io.WriteCloser
	reports chan report // closed when the child ends
	said    *tail
}

// start runs this program as a child, or another one that knows the same orders and reports. ctx ends it.
func start(ctx context.Context, o order, program ...string) (*process, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	if len(program) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("the path of this program: %w", err)
		}
		program = []string{self}
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := &process{what: o.Contender + " " + o.Role, command: exec.CommandContext(ctx, program[0], program[1:]...), reports: make(chan report, 1), said: new(tail)}
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
		return report{}, fmt.Errorf("%s did not answer in time: %w", p.what, ctx.Err())
	}
}

// ask gives an order and waits for the report on it.
func (p *process) ask(ctx context.Context, what string) (report, error) {
	if _, err := io.WriteString(p.orders, what+"\n"); err != nil {
		return report{}, fmt.Errorf("%s: order %q: %w. It said: %s", p.what, what, err, p.said)
	}
	return p.next(ctx)
}

// stopPatience is how long a child may take to close its connections before it is killed.
const stopPatience = 5 * time.Second

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

// startPatience is how long a server may take to listen, a client to connect, and both to stop.
const startPatience = 30 * time.Second

// runOnce measures one contender once: a new server, a new client.
func runOnce(ctx context.Context, c contender, l load) (outcome, error) {
	address, remove, err := freeAddress(c.network)
	if err != nil {
		return outcome{}, err
	}
	defer remove()
	return runAt(ctx, c, l, address, nil)
}

// runAt measures one contender once at an address, with the broker that runs there, if any.
func runAt(ctx context.Context, c contender, l load, address string, broker *brokers.Server) (outcome, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, l.Warmup+l.Duration+startPatience, errors.New("a call hangs, or the machine is too busy"))
	defer cancel()
	o := order{Role: "server", Contender: c.name, Address: address, Load: l}
	var program []string
	if c.node {
		var err error
		if program, err = peers.Node(ctx, io.Discard); err != nil {
			return outcome{}, err
		}
		o.Request = message.New()
	}
	server, err := start(ctx, o, program...)
	if err != nil {
		return outcome{}, err
	}
	defer server.stop()
	if _, err := server.next(ctx); err != nil {
		return outcome{}, err
	}
	o.Role = "client"
	client, err := start(ctx, o, program...)
	if err != nil {
		return outcome{}, err
	}
	defer client.stop()
	if _, err := client.next(ctx); err != nil {
		return outcome{}, err
	}
	before, err := server.ask(ctx, orderUsage)
	if err != nil {
		return outcome{}, err
	}
	brokerBefore, err := brokerUsage(broker)
	if err != nil {
		return outcome{}, err
	}
	measured, err := client.ask(ctx, orderGo)
	if err != nil {
		return outcome{}, err
	}
	after, err := server.ask(ctx, orderUsage)
	if err != nil {
		return outcome{}, err
	}
	if before.Usage == nil || after.Usage == nil || measured.Outcome == nil {
		return outcome{}, fmt.Errorf("%s: a report without its figures", c.name)
	}
	brokerAfter, err := brokerUsage(broker)
	if err != nil {
		return outcome{}, err
	}
	result := *measured.Outcome
	result.Server = after.Usage.since(*before.Usage)
	result.Broker = brokerAfter.since(brokerBefore)
	return result, nil
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
