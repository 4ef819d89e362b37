package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/sabir-go/sabir/internal/brokers"
)

// Env holds the resources that a table's rows share while they are open.
type Env struct {
	// Quick says that this is a quick run: work that is counted, not timed, should be a tenth or less.
	Quick bool

	lock    sync.Mutex
	dir     string
	brokers map[brokers.Kind]broker

	measuring sync.Mutex
	known     map[string]float64
}

type broker struct {
	server  *brokers.Server
	process *Process
}

// Broker is the table's broker of a kind, started at the first call, with its process for the row's Processes.
func (e *Env) Broker(kind brokers.Kind) (*brokers.Server, *Process, error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	if b, there := e.brokers[kind]; there {
		return b.server, b.process, nil
	}
	server, err := brokers.Start(kind, brokers.Config{})
	if err != nil {
		return nil, nil, err
	}
	process, err := Adopt("broker", server.PID())
	if err != nil {
		server.Close()
		return nil, nil, err
	}
	if e.brokers == nil {
		e.brokers = map[brokers.Kind]broker{}
	}
	e.brokers[kind] = broker{server, process}
	return server, process, nil
}

// Known is a figure that rows of the table depend on, such as what a contender can do at most. The first call measures it; others wait for
// that one.
func (e *Env) Known(name string, measure func() (float64, error)) (float64, error) {
	e.measuring.Lock()
	defer e.measuring.Unlock()
	if v, there := e.known[name]; there {
		return v, nil
	}
	v, err := measure()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	if e.known == nil {
		e.known = map[string]float64{}
	}
	e.known[name] = v
	return v, nil
}

// Socket is the path of a socket that does not exist yet.
func (e *Env) Socket(name string) (string, error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	if e.dir == "" {
		dir, err := os.MkdirTemp("", "lab-")
		if err != nil {
			return "", fmt.Errorf("a folder for sockets: %w", err)
		}
		e.dir = dir
	}
	return filepath.Join(e.dir, name), nil
}

// close ends the brokers and removes the sockets.
func (e *Env) close() {
	e.lock.Lock()
	defer e.lock.Unlock()
	for _, b := range e.brokers {
		b.server.Close()
	}
	if e.dir != "" {
		os.RemoveAll(e.dir)
	}
}

// together is a runner with processes besides its own, such as a broker.
type together struct {
	Runner
	more []*Process
}

// With is a row whose figures have those of more processes, which somebody else ends.
func With(r Runner, more ...*Process) Runner { return together{r, more} }

func (t together) Processes() []*Process { return append(t.Runner.Processes(), t.more...) }
