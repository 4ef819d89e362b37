package overload

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/transport/tcp" // for Join
	_ "github.com/sabir-go/sabir/web"           // for HTTP
)

// work describes the node's one action.
type work struct {
	name string
	key  string
	do   func()
}

const takes = time.Millisecond

var connections = make(chan struct{}, 10)

// works are the two ways in which a node can have too much to do.
var works = []work{
	{"computes for 1 ms", "compute", func() {
		for end := time.Now().Add(takes); time.Now().Before(end); {
		}
	}},
	{"waits for one of 10 connections, for 10 ms", "wait", func() {
		connections <- struct{}{}
		time.Sleep(10 * takes)
		<-connections
	}},
}

const workVariable, joinVariable, httpVariable = "SABIR_OVERLOAD_WORK", "SABIR_OVERLOAD_JOIN", "SABIR_OVERLOAD_HTTP"

// In and Out are the action's types.
type (
	In  struct{ N int }
	Out struct{ N int }
)

var job = sabir.NewAction[In, Out]("job.do")

// serve is the node's process.
func serve(ctx context.Context) error {
	s := sabir.NewService("job")
	for _, w := range works {
		if w.key == os.Getenv(workVariable) {
			job.Handle(s, func(_ context.Context, in In) (Out, error) { w.do(); return Out(in), nil }, sabir.Route("POST", "/do"))
		}
	}
	return sabir.NewNode(sabir.NodeID("node"), sabir.Serve(s), sabir.Join(os.Getenv(joinVariable)), sabir.HTTP(os.Getenv(httpVariable)), quiet).Run(ctx)
}

var quiet = sabir.Logger(slog.New(slog.DiscardHandler))

// node is the node's process, and what calls it.
type node struct {
	process *exec.Cmd
	caller  *sabir.Node
	call    func(ctx context.Context) error
}

func startNode(ctx context.Context, w work, over string) (*node, error) {
	join, err := freeAddress()
	if err != nil {
		return nil, err
	}
	http, err := freeAddress()
	if err != nil {
		return nil, err
	}
	n := &node{process: exec.CommandContext(ctx, os.Args[0], "overload")}
	n.process.Env = append(os.Environ(), "GOMAXPROCS=1", workVariable+"="+w.key, joinVariable+"=tcp://"+join, httpVariable+"="+http)
	n.process.Stderr = os.Stderr
	if err := n.process.Start(); err != nil {
		return nil, err
	}
	n.caller = sabir.NewNode(sabir.NodeID("caller"), sabir.Join("tcp://127.0.0.1:0?seeds="+join), quiet)
	if err := n.caller.Start(ctx); err != nil {
		return nil, err
	}
	soon, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := n.caller.WaitFor(soon, "job"); err != nil {
		n.stop()
		return nil, err
	}
	switch over {
	case "tcp":
		n.call = func(ctx context.Context) error { _, err := job.Call(ctx, n.caller, In{1}); return err }
	case "http":
		n.call = httpCaller(http)
	default:
		n.stop()
		return nil, fmt.Errorf("calls come over tcp or http, not %q", over)
	}
	return n, nil
}

// processorTime is the time that the node's process has had a processor; 0 where the system does not tell.
func (n *node) processorTime() time.Duration {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", n.process.Process.Pid))
	var sum time.Duration
	for _, task := range tasks {
		var had int64
		if text, err := os.ReadFile(task); err == nil {
			_, _ = fmt.Sscan(string(text), &had) // the first of its numbers, in nanoseconds
		}
		sum += time.Duration(had)
	}
	return sum
}

func (n *node) stop() {
	_ = n.process.Process.Kill()
	_ = n.process.Wait()
	_ = n.caller.Stop(context.Background())
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
