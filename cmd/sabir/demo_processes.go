package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// processes are the nodes of the demo, each a child process of this program.
type processes struct {
	cli     *cli
	flags   demoFlags
	address string
	log     io.Writer
	notify  func(childNews)

	program string
	cancel  context.CancelFunc
	keepers sync.WaitGroup

	mu   sync.Mutex
	here map[string]member // those that run
}

// childNews reports a change of a child process after the demo was open.
type childNews struct {
	member
	Ended   bool
	Why     string // it ended
	Restart bool   // it is started again
	Left    int    // processes that run
	Instead string // an address to join at, where the ended one was at the common one
}

// start starts all of them and returns when all are ready. The first has to listen before the others look for it.
func (p *processes) start(impatient context.Context, ids []string) ([]member, error) {
	var err error
	p.here, p.cancel = make(map[string]member), func() {}
	if p.program, err = os.Executable(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(impatient))
	p.cancel = cancel
	listening := make(chan error, 2*len(ids)) // each may report that it listens, and then that it failed
	ready := make(chan error, len(ids))
	for i, id := range ids {
		k := &keeper{of: p, id: id, part: i + 1, listening: listening, ready: ready}
		p.keepers.Go(func() { k.keep(ctx) })
		if i == 0 {
			err = first(impatient, listening)
		}
		if err != nil {
			return nil, err
		}
	}
	for range ids {
		if err := first(impatient, ready); err != nil {
			return nil, err
		}
	}
	return p.members(), nil
}

// first returns the first value of a channel, or the error of the context if that ends before.
func first(ctx context.Context, from <-chan error) error {
	select {
	case err := <-from:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// members returns the processes that run, by name.
func (p *processes) members() (list []member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.here {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b member) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// stop asks all to stop and waits until they have. One that does not is killed.
func (p *processes) stop(context.Context) error {
	p.cancel()
	p.keepers.Wait()
	return nil
}

// seeds is the common address with those of the nodes that run, so that one which is started again finds them.
func (p *processes) seeds() string {
	u, err := url.Parse(p.address)
	if err != nil || u.Port() == "" {
		return p.address
	}
	var hosts []string
	for _, m := range p.members() {
		if at, err := url.Parse(m.Addr); err == nil && at.Host != u.Host {
			hosts = append(hosts, at.Host)
		}
	}
	if len(hosts) > 0 {
		u.RawQuery = "seeds=" + strings.Join(hosts, ",")
	}
	return u.String()
}

// keeper runs the process of one node, again and again where that is wanted.
type keeper struct {
	of        *processes
	id        string
	part      int
	listening chan<- error
	ready     chan<- error
	was       member // while it runs, and after
	opened    bool   // it has been ready once
}

// The pause before a process is started again, which doubles as long as it ends soon after.
const (
	firstPause = 500 * time.Millisecond
	lastPause  = 30 * time.Second
	longLife   = 10 * time.Second
)

func (k *keeper) keep(ctx context.Context) {
	pause := firstPause
	for {
		began := time.Now()
		why := k.run(ctx)
		if ctx.Err() != nil {
			return
		}
		if !k.opened {
			failed := fmt.Errorf("the process of %s ended before it was ready: %s", k.id, why)
			k.listening <- failed
			k.ready <- failed
			return
		}
		k.tellEnd(why)
		if !k.of.flags.restart {
			return
		}
		if time.Since(began) > longLife {
			pause = firstPause
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		pause = min(2*pause, lastPause)
	}
}

// run starts the process, waits until it has ended, and returns why it did.
func (k *keeper) run(ctx context.Context) string {
	c := k.of.cli
	args := []string{"demo", "--part", fmt.Sprint(k.part), "--id", k.id, "--nodes", fmt.Sprint(k.of.flags.nodes), "--join", k.of.seeds()}
	for name, value := range map[string]string{"--cluster": c.cluster, "--node-key-file": c.nodeKey, "--tls-cert": c.tlsCert, "--tls-key": c.tlsKey, "--tls-ca": c.tlsCA} {
		if value != "" {
			args = append(args, name, value)
		}
	}
	command := exec.CommandContext(ctx, k.of.program, args...)
	command.Env = append(os.Environ(), "SABIR_KEY="+strings.Join(c.clusterKeys(), ","), "SABIR_HTTP_KEY="+c.httpKey()) // others can see arguments
	in, err := command.StdinPipe()
	if err != nil {
		return err.Error()
	}
	command.Cancel = in.Close
	command.WaitDelay = killLimit
	log := &lines{each: func(line []byte) { fmt.Fprintf(k.of.log, "%s | %s\n", k.id, printable(string(line))) }}
	command.Stderr = log
	command.Stdout = &lines{each: func(line []byte) { k.hear(line, log) }}
	if err := command.Start(); err != nil {
		return err.Error()
	}
	err = command.Wait()
	if command.ProcessState == nil {
		return err.Error()
	}
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return command.ProcessState.String()
	}
	return err.Error()
}

// hear handles a line that the process sends to its parent.
func (k *keeper) hear(line []byte, log *lines) {
	var note partNote
	if json.Unmarshal(line, &note) != nil {
		log.each(line)
		return
	}
	switch {
	case note.Type == "listening" && !k.opened:
		k.listening <- nil
	case note.Type == "ready":
		k.was = note.member
		k.of.mu.Lock()
		k.of.here[k.id] = note.member
		left := len(k.of.here)
		k.of.mu.Unlock()
		if k.opened {
			k.of.notify(childNews{member: k.was, Left: left})
			return
		}
		k.opened = true
		k.ready <- nil
	}
}

func (k *keeper) tellEnd(why string) {
	k.of.mu.Lock()
	delete(k.of.here, k.id)
	left := len(k.of.here)
	k.of.mu.Unlock()
	news := childNews{member: k.was, Ended: true, Why: why, Restart: k.of.flags.restart, Left: left}
	if k.was.Addr == k.of.address && left > 0 && !news.Restart {
		news.Instead = k.of.members()[0].Addr
	}
	k.of.notify(news)
}

// lines is a writer that passes each whole line on, without its end. A longer one than maxLine is cut in pieces.
type lines struct {
	each func([]byte)
	rest []byte
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, after, found := bytes.Cut(l.rest, []byte{'\n'})
		if !found {
			break
		}
		l.each(line)
		l.rest = after
	}
	if len(l.rest) > maxLine {
		l.each(l.rest)
		l.rest = nil
	}
	return len(p), nil
}
