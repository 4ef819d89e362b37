package dubbo_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
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
		if compiled.dir != "" {
			os.RemoveAll(compiled.dir)
		}
	}()
	return c.tests.Run()
}

// waitLimit bounds waits for what must come. It is only ever reached where it does not.
const waitLimit = time.Minute

// jars are the libraries of a program of Dubbo 3.3.6 that speaks dubbo://, by their paths at Maven Central, with their SHA-256.
var jars = map[string]string{
	"org/apache/dubbo/dubbo/3.3.6/dubbo-3.3.6.jar":                                                               "d40260c11f92a400ac8f10569e457eb60c5043f7239091f7f433d3a56722feb2",
	"com/alibaba/fastjson2/fastjson2/2.0.56/fastjson2-2.0.56.jar":                                                "8e9542274debd578beadb98244019f08e344a7e711690850ecdb66c5cecaa98e",
	"org/apache/dubbo/hessian-lite/4.0.4/hessian-lite-4.0.4.jar":                                                 "02adbd46898380a487720b125f8ed598c46ce3c976b182a971329bf4d2f0839c",
	"org/javassist/javassist/3.30.2-GA/javassist-3.30.2-GA.jar":                                                  "eba37290994b5e4868f3af98ff113f6244a6b099385d9ad46881307d3cb01aaf",
	"io/netty/netty-buffer/4.2.2.Final/netty-buffer-4.2.2.Final.jar":                                             "4820eeb2d3db269b20b30711e3d7d21979664249aaf10fc67f90dee935810747",
	"io/netty/netty-codec/4.2.2.Final/netty-codec-4.2.2.Final.jar":                                               "6a4ea3cedc831a377e20e32da5df4d2a47b954810e941138e3358e313db3a7f9",
	"io/netty/netty-codec-base/4.2.2.Final/netty-codec-base-4.2.2.Final.jar":                                     "76987614ccb2fda7d3292b69ba5b61351f30e91bf5c7d8fa4b51bc32c9f67456",
	"io/netty/netty-codec-compression/4.2.2.Final/netty-codec-compression-4.2.2.Final.jar":                       "005734e20aceb5e2c030033f7e042c81ee444497efd110cfca8de445642652ac",
	"io/netty/netty-codec-http/4.2.2.Final/netty-codec-http-4.2.2.Final.jar":                                     "587377490ba0a73e2b928019383993fcccea30193eca42c4a164f2eb4d5b5642",
	"io/netty/netty-codec-http2/4.2.2.Final/netty-codec-http2-4.2.2.Final.jar":                                   "1fd8512c2f9f242cc8f425782cd8cf04fc6c2db68736f82cd5c1d95cf6035513",
	"io/netty/netty-codec-socks/4.2.2.Final/netty-codec-socks-4.2.2.Final.jar":                                   "801fb0cdc8aca4c2a95081df19c1db6d1020e2974cbe07ef145344b02dbf686c",
	"io/netty/netty-common/4.2.2.Final/netty-common-4.2.2.Final.jar":                                             "5d022f3acad74cb0f195f60213500a4000d1340e5e941edaf1a0e756686b9bae",
	"io/netty/netty-handler/4.2.2.Final/netty-handler-4.2.2.Final.jar":                                           "d4ef582c78125457baa0cfa52992b5fb1bb9172d1a2c03b726e8b26e17d3fe2c",
	"io/netty/netty-handler-proxy/4.2.2.Final/netty-handler-proxy-4.2.2.Final.jar":                               "23b1a31143d6278861631b7c2dc36bf46aa1af39e244ba71d03127ab8eced5e3",
	"io/netty/netty-resolver/4.2.2.Final/netty-resolver-4.2.2.Final.jar":                                         "fa7841ffe2e39d52251814fb8560d6936b10ae7c67453ee50426b83fd5170ba0",
	"io/netty/netty-transport/4.2.2.Final/netty-transport-4.2.2.Final.jar":                                       "116d766a1af4722fe76a4cdaed969644985d44e08ec1337d2dbab697dd109603",
	"io/netty/netty-transport-classes-epoll/4.2.2.Final/netty-transport-classes-epoll-4.2.2.Final.jar":           "11fe3f5d46f94766c5719474c015fecce555ba99264f958d55d8a63e390bcbc4",
	"io/netty/netty-transport-native-unix-common/4.2.2.Final/netty-transport-native-unix-common-4.2.2.Final.jar": "aa8821a7ea2ca47f62740bd1f37d67deb97824cc77e76dde6ae2c439a923fc9d",
	"com/google/protobuf/protobuf-java/3.25.8/protobuf-java-3.25.8.jar":                                          "72bdb32eb38cafb7dcd288262c29a34d57cba2e19101af9685155ba8c0a56008",
	"org/yaml/snakeyaml/2.4/snakeyaml-2.4.jar":                                                                   "ef779af5d29a9dde8cc70ce0341f5c6f7735e23edff9685ceaa9d35359b7bb7f",
}

// javaHost is this machine for programs of Java.
const javaHost = "provider.test"

var compiled struct {
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
		compile := exec.CommandContext(t.Context(), compiler, append([]string{"-nowarn", "-cp", path, "-d", dir}, sources...)...)
		if out, err := compile.CombinedOutput(); err != nil {
			t.Fatalf("javac: %v\n%s", err, out)
		}
	}
	all := []string{"-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Djava.net.preferIPv4Stack=true", "-Duser.timezone=UTC", "-Djdk.net.hosts.file=" + filepath.Join(compiled.dir, "hosts"), "-cp", path + string(os.PathListSeparator) + compiled.dir, "com.shop." + class}
	command := exec.Command(program, append(all, arguments...)...)
	command.Dir = compiled.dir
	command.Env = append(os.Environ(), "HOME="+compiled.dir)
	return command
}

// process is a running program of Java: what it prints on its standard output comes line by line.
type process struct {
	t       *testing.T
	command *exec.Cmd
	in      io.WriteCloser
	lines   chan string
	log     *os.File
}

func run(t *testing.T, class string, arguments ...string) *process {
	t.Helper()
	p := &process{t: t, command: java(t, class, arguments...), lines: make(chan string, 1000)}
	var err error
	if p.log, err = os.Create(filepath.Join(t.TempDir(), class+".log")); err != nil {
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
			t.Logf("%s says\n%s", class, data)
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
				p.t.Fatalf("the program of Java ended before it printed %q, after %v", line, results)
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
			p.t.Fatalf("the program of Java did not print %q, after %v", line, results)
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
