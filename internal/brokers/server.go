package brokers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// ErrMissing is wrapped in the error of Start where the broker is not installed.
var ErrMissing = errors.New("the broker is not installed")

// Server is a broker's process, or the place where one ran and can run again. All methods may be called from any number
// of goroutines at once.
type Server struct {
	kind      Kind
	config    Config
	recipe    recipe
	program   string
	temporary bool
	port      int
	ports     map[string]int // others that it needs, by use

	mu    sync.Mutex
	main  *process
	aides []*process // what main needs, started before it
}

// Start runs a broker and returns when it answers. The caller must Close it.
func Start(kind Kind, config Config) (*Server, error) {
	r, err := recipeOf(kind)
	if err != nil {
		return nil, err
	}
	if err := config.check(); err != nil {
		return nil, err
	}
	if config.User == "" && config.Password != "" && kind != Redis {
		config.User = "sabir"
	}
	program, err := r.program()
	if err != nil {
		if r.debian != "" {
			err = fmt.Errorf("%w: %s was not found (Debian package %s)", ErrMissing, kind, r.debian)
		}
		return nil, err
	}
	s := &Server{kind: kind, config: config, recipe: r, program: program, ports: make(map[string]int)}
	if config.Dir == "" {
		s.temporary = true
		s.config.Dir, err = os.MkdirTemp("", "sabir-"+string(kind)+"-")
	} else {
		s.config.Dir, err = filepath.Abs(config.Dir)
		err = errors.Join(err, os.MkdirAll(s.config.Dir, 0o700))
	}
	if err != nil {
		return nil, err
	}
	// Another process may take the port between its choice and its use.
	for attempt := range 3 {
		if s.port, err = freePort("tcp"); err == nil {
			clear(s.ports)
			err = s.run()
		}
		if err == nil || attempt == 2 || !errors.Is(err, errEnded) {
			break
		}
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Kind returns the kind of the broker.
func (s *Server) Kind() Kind { return s.kind }

// Addr is the address at which the broker listens, as "127.0.0.1:port".
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// URL is the broker's address with the user and password that it wants, as its clients know such URLs: nats://, redis://
// or rediss://, mqtt:// or mqtts://, amqp:// or amqps://.
func (s *Server) URL() string {
	u := url.URL{Scheme: s.recipe.scheme, Host: s.Addr()}
	if s.config.secure() {
		u.Scheme = s.recipe.secure
	}
	switch {
	case s.config.Password != "":
		u.User = url.UserPassword(s.config.User, s.config.Password)
	case s.kind == RabbitMQ:
		u.User = url.UserPassword("guest", "guest")
	}
	return u.String()
}

// Dir is the folder with the broker's files.
func (s *Server) Dir() string { return s.config.Dir }

// Log is the file with the broker's output since Start.
func (s *Server) Log() string { return filepath.Join(s.config.Dir, "broker.log") }

// PID is the process's number, 0 while there is none.
func (s *Server) PID() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.main == nil {
		return 0
	}
	return s.main.pid()
}

// Kill ends the process as a crash does, by SIGKILL, and returns when it is gone. It does nothing where none runs.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end(syscall.SIGKILL)
}

// Stop asks the process to end and returns when it has; after 20 seconds it is killed. It does nothing where none runs.
// The files are kept.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end(syscall.SIGTERM)
}

// Restart runs the broker again at the same port with the same files, and returns when it answers. One that still runs
// is stopped first.
func (s *Server) Restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.end(syscall.SIGTERM); err != nil {
		return err
	}
	return s.run()
}

// Erase kills the process and removes all that it kept, in a folder that Start has made. A Restart is then a first start at the same port.
func (s *Server) Erase() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.end(syscall.SIGKILL); err != nil {
		return err
	}
	if !s.temporary {
		return fmt.Errorf("the folder %s is not the server's own", s.config.Dir)
	}
	files, err := os.ReadDir(s.config.Dir)
	if err != nil {
		return err
	}
	for _, file := range files {
		if path := s.file(file.Name()); path != s.Log() {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	return err
}

// Suspend stops the process where it is, by SIGSTOP: connections stay, and nothing answers. It returns when the process
// stands still.
func (s *Server) Suspend() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.main == nil {
		return fmt.Errorf("%s does not run", s.kind)
	}
	return s.main.suspend()
}

// Resume has a suspended process go on.
func (s *Server) Resume() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.main == nil {
		return fmt.Errorf("%s does not run", s.kind)
	}
	return s.main.resume()
}

// Close kills the process and removes the folder, if Start made it.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.end(syscall.SIGKILL)
	if s.temporary {
		err = errors.Join(err, os.RemoveAll(s.config.Dir))
	}
	return err
}

// errEnded is wrapped in the errors of brokers that ended before they answered.
var errEnded = errors.New("ended before it answered")

// run starts the processes and waits for answers. The caller has s.mu, or is alone.
func (s *Server) run() error {
	if err := s.recipe.start(s); err != nil {
		s.end(syscall.SIGKILL)
		return fmt.Errorf("%s cannot be started: %w", s.kind, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.recipe.startTimeout)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		err := s.recipe.answers(s)
		if err == nil {
			return nil
		}
		select {
		case <-again.C:
			continue
		case <-s.main.ended:
			err = errEnded
		case <-ctx.Done():
			err = fmt.Errorf("does not answer after %v: %w", s.recipe.startTimeout, err)
		}
		s.end(syscall.SIGKILL)
		return fmt.Errorf("%s at %s: %w\n%s", s.kind, s.Addr(), err, tail(s.Log()))
	}
}

// end ends main and then its aides. The caller has s.mu.
func (s *Server) end(by syscall.Signal) error {
	if s.main == nil && len(s.aides) == 0 {
		return nil
	}
	var errs []error
	if s.main != nil {
		errs = append(errs, s.main.end(by))
	}
	for _, p := range s.aides {
		errs = append(errs, p.end(syscall.SIGKILL))
	}
	s.main, s.aides = nil, nil
	return errors.Join(errs...)
}

// command is a command in the server's folder that writes to its log.
func (s *Server) command(name string, arguments ...string) *exec.Cmd {
	command := exec.Command(name, arguments...)
	command.Dir = s.config.Dir
	return command
}

// file is a path in the server's folder.
func (s *Server) file(name string) string { return filepath.Join(s.config.Dir, name) }

// write makes a file in the server's folder that only its owner can read: passwords are in it.
func (s *Server) write(name, text string) (path string, err error) {
	path = s.file(name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// otherPort is a further free port, the same one for each Restart.
func (s *Server) otherPort(use string) (int, error) {
	if port := s.ports[use]; port != 0 {
		return port, nil
	}
	port, err := freePort("tcp")
	s.ports[use] = port
	return port, err
}

func installed(name string, paths ...string) func() (string, error) {
	return func() (string, error) {
		for _, path := range paths {
			if found, err := exec.LookPath(path); err == nil {
				return found, nil
			}
		}
		return exec.LookPath(name)
	}
}
