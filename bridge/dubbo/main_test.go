package dubbo_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/brokers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(cleaning{m}) }

type cleaning struct{ tests interface{ Run() int } }

func (c cleaning) Run() int {
	defer func() {
		for _, dir := range []string{compiled.dir, modules.dir} {
			if dir != "" {
				os.RemoveAll(dir)
			}
		}
	}()
	return c.tests.Run()
}

// waitLimit bounds waits for what must come, such as the start of three programs of Java on a busy machine, which took more than a minute. It is
// only ever reached where it does not.
const waitLimit = 3 * time.Minute

// jars are the libraries of the programs of Java here.
var jars = maps.Clone(brokers.DubboJars)

// javaHost is this machine for programs of Java.
const javaHost = "provider.test"

// Folders that several tests use: classes of Java, and packages of npm.
var compiled, modules struct {
	sync.Mutex
	dir string
}

// java returns a command that runs a class of testdata/java.
func java(t *testing.T, class string, arguments ...string) *exec.Cmd {
	t.Helper()
	program, compiler := brokers.Program(t, "java", "default-jdk-headless"), brokers.Program(t, "javac", "default-jdk-headless")
	path := brokers.Jars(t, jars)
	compiled.Lock()
	defer compiled.Unlock()
	if compiled.dir == "" {
		dir, err := os.MkdirTemp("", "sabir-dubbo-")
		if err != nil {
			t.Fatal(err)
		}
		compiled.dir = dir
		own, err := os.Hostname()
		if err != nil {
			t.Fatal(err)
		}
		// Dubbo dials another address than 127.0.0.1 where it finds that one, so programs here get it by a name.
		if err := os.WriteFile(filepath.Join(dir, "hosts"), []byte("127.0.0.1 "+javaHost+"\n127.0.0.1 "+own+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		sources, err := filepath.Glob("testdata/java/com/shop/*.java")
		if err != nil {
			t.Fatal(err)
		}
		compile := exec.CommandContext(t.Context(), compiler, append([]string{"-nowarn", "-parameters", "-cp", path, "-d", dir}, sources...)...)
		if out, err := compile.CombinedOutput(); err != nil {
			t.Fatalf("javac: %v\n%s", err, out)
		}
	}
	// Dubbo's classes are not checked as they are loaded: a program that runs for seconds takes a seventh less of a processor.
	all := []string{"-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote", "-Djava.net.preferIPv4Stack=true", "-Duser.timezone=UTC", "-Ddubbo.application.serialize-check-status=STRICT", "-Djdk.net.hosts.file=" + filepath.Join(compiled.dir, "hosts"), "-cp", path + string(os.PathListSeparator) + compiled.dir, "com.shop." + class}
	command := exec.Command(program, append(all, arguments...)...)
	command.Dir = compiled.dir
	command.Env = append(os.Environ(), "HOME="+compiled.dir)
	return command
}

// nodejs returns a command that runs a program of testdata/nodejs.
func nodejs(t *testing.T, program string, arguments ...string) *exec.Cmd {
	t.Helper()
	node := brokers.Program(t, "node", "nodejs")
	modules.Lock()
	defer modules.Unlock()
	if modules.dir == "" {
		dir, err := os.MkdirTemp("", "sabir-dubbo-js-")
		if err != nil {
			t.Fatal(err)
		}
		modules.dir = dir
		brokers.NodeModules(t, "testdata/nodejs", dir)
	}
	command := exec.Command(node, append([]string{program}, arguments...)...)
	command.Dir = modules.dir
	return command
}

// process is a running program of another language: what it prints on its standard output comes line by line.
type process struct {
	t       *testing.T
	command *exec.Cmd
	in      io.WriteCloser
	lines   chan string
	log     *os.File
}

func run(t *testing.T, class string, arguments ...string) *process {
	t.Helper()
	return runCommand(t, class, java(t, class, arguments...))
}

func runCommand(t *testing.T, name string, command *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, command: command, lines: make(chan string, 1000)}
	var err error
	if p.log, err = os.Create(filepath.Join(t.TempDir(), name+".log")); err != nil {
		t.Fatal(err)
	}
	p.command.Stderr = p.log
	if p.in, err = p.command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(p.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.lines <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		p.in.Close()
		_ = p.command.Process.Kill()
		<-read
		_ = p.command.Wait()
		if data, _ := os.ReadFile(p.log.Name()); t.Failed() {
			t.Logf("%s says\n%s", name, data)
		}
		p.log.Close()
	})
	return p
}

// until returns what is printed as "name = result", by name, up to the line.
func (p *process) until(line string) map[string]string {
	p.t.Helper()
	results := make(map[string]string)
	late := time.After(waitLimit)
	for {
		select {
		case one, more := <-p.lines:
			if !more {
				p.t.Fatalf("the program ended before it printed %q, after %v", line, results)
			}
			if one == line {
				return results
			}
			if name, result, ok := strings.Cut(one, " = "); ok {
				results[name] = result
				if name == line {
					return results
				}
			}
		case <-late:
			p.t.Fatalf("the program did not print %q, after %v", line, results)
		}
	}
}

// start starts a node.
func start(t *testing.T, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	return startAs(t, "go", options...)
}

// startAs starts a node with an id of its own.
func startAs(t *testing.T, id string, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	node := sabir.NewNode(append([]sabir.NodeOption{sabir.NodeID(id), sabir.Logger(slog.New(slog.NewTextHandler(t.Output(), nil)))}, options...)...)
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Stop(context.Background()) }) // unless the test has stopped it
	return node
}

func stop(t *testing.T, node *sabir.Node) {
	t.Helper()
	if err := node.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// asJava is an address at this machine as programs of Java have it.
func asJava(address string) string {
	_, port, _ := strings.Cut(address, ":")
	return javaHost + ":" + port
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := brokers.FreeAddress("tcp")
	if err != nil {
		t.Fatal(err)
	}
	return address
}
