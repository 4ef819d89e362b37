package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

func goTool(t *testing.T, args ...string) string {
	t.Helper()
	command := exec.Command("go", args...)
	command.Dir = root
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// What each program links stays small: a library that only some need is an import of theirs.
func TestANodeWithHTTPDependsOnNoLibraryForClustersAndRareRules(t *testing.T) {
	const most = 8 // what docs/dependencies.md says, and one
	modules := map[string]bool{}
	for line := range strings.Lines(goTool(t, "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".", "./web")) {
		if module := strings.TrimSpace(line); module != "" && module != "github.com/sabir-go/sabir" {
			modules[module] = true
		}
	}
	for _, heavy := range []string{"github.com/hashicorp/memberlist", "github.com/go-playground/validator/v10", "github.com/go-playground/locales", "github.com/modelcontextprotocol/go-sdk"} {
		if modules[heavy] {
			t.Errorf("each program links %s", heavy)
		}
	}
	if len(modules) == 0 || len(modules) > most {
		t.Errorf("%d modules, want at most %d: %v", len(modules), most, modules)
	}
}

// A program without durable channels links none of them: package channel is an import of those that have some.
func TestANodeWithoutChannelsDependsOnNothingOfThem(t *testing.T) {
	packages := strings.Fields(goTool(t, "list", "-deps", ".", "./web", "./actor", "./policy", "./telemetry"))
	for _, path := range packages {
		if strings.HasPrefix(path, "github.com/sabir-go/sabir/channel") {
			t.Errorf("it depends on %s", path)
		}
	}
	if len(packages) < 10 {
		t.Errorf("%d packages: the test looks in the wrong place", len(packages))
	}
}

const hello = `package main

import (
	"context"
	"log"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/web"
)

type in struct {
	Name string ` + "`json:\"name\" validate:\"required,max=64\"`" + `
}

func main() {
	greeter := sabir.NewService("greeter")
	sabir.Handle(greeter, "hello", func(ctx context.Context, in in) (string, error) { return "Hello, " + in.Name, nil })
	if err := sabir.NewNode(sabir.Serve(greeter), sabir.HTTP(":3000")).Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
`

// build makes a program of a source and returns its binary's path.
func build(t *testing.T, source string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds a program")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "program")
	goTool(t, "build", "-trimpath", "-o", binary, file) // else its size depends on the name of the folder of the sources
	return binary
}

func TestAHelloWorldWithHTTPIsASmallProgram(t *testing.T) {
	const most = 15_000_000 // with cgo, as where a C compiler is there; 70 kB less without
	info, err := os.Stat(build(t, hello))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > most {
		t.Errorf("%d bytes, want at most %d: look for reflect.Value.MethodByName and for what is reached anew, with go build -ldflags=-dumpdep",
			info.Size(), most)
	}
}

func TestAProgramLinksStreamsOverHTTPWhereItHasSome(t *testing.T) {
	const action = `sabir.Handle(greeter, "hello", func(ctx context.Context, in in) (string, error) { return "Hello, " + in.Name, nil })`
	const stream = `sabir.HandleStream(greeter, "hello", func(ctx context.Context, s *sabir.Stream[in, string]) error { return s.Send("Hello") })`
	for name, test := range map[string]struct {
		source string
		links  bool
	}{
		"an action":            {hello, false},
		"a stream":             {strings.Replace(hello, action, stream, 1), true},
		"those of other nodes": {strings.Replace(strings.Replace(hello, `_ "github`, `"github`, 1), `":3000"`, `":3000", web.With(web.Config{Forward: []string{"*"}})`, 1), true},
	} {
		t.Run(name, func(t *testing.T) {
			symbols := goTool(t, "tool", "nm", build(t, test.source))
			if got := strings.Contains(symbols, "internal/httpstream.(*Streams).Serve\n"); got != test.links {
				t.Errorf("it links the serving of streams: %v, want %v", got, test.links)
			}
		})
	}
}

func TestAMissingImportIsAnErrorAtTheStartThatNamesIt(t *testing.T) {
	for name, test := range map[string]struct{ old, new, want string }{
		"transport/tcp":       {`sabir.HTTP(":3000")`, `sabir.Join("tcp://127.0.0.1:0")`, `add import _ "github.com/sabir-go/sabir/transport/tcp"`},
		"validate/playground": {"required,max=64", "required,credit_card", `add import _ "github.com/sabir-go/sabir/validate/playground"`},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := exec.Command(build(t, strings.Replace(hello, test.old, test.new, 1))).CombinedOutput()
			if err == nil || !strings.Contains(string(out), test.want) {
				t.Errorf("it ended with %v and said:\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

// What is generic is compiled for each pair of types: an action added 115 KB to a program once, and took 0.4 s to compile.
func TestAnActionAddsLittleToAProgram(t *testing.T) {
	const most = 60_000 // bytes, with what debuggers need
	size := func(actions int) int64 {
		info, err := os.Stat(build(t, actionsOf(actions)))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	const more = 10
	if each := (size(1+more) - size(1)) / more; each > most {
		t.Errorf("an action adds %d bytes, want at most %d: look for what need not be generic with go tool nm -size -sort size", each, most)
	} else {
		t.Logf("an action adds %d bytes", each)
	}
}

// actionsOf is a program with as many actions, each with types of its own, which it calls.
func actionsOf(count int) string {
	var types, handles, calls strings.Builder
	for i := range count {
		fmt.Fprintf(&types, "type In%d struct { A string; B%d int }\ntype Out%d struct { A string; C%d int }\n", i, i, i, i)
		fmt.Fprintf(&types, "var do%d = sabir.NewAction[In%d, Out%d](\"s.do%d\")\n", i, i, i, i)
		fmt.Fprintf(&handles, "do%d.Handle(s, func(_ context.Context, in In%d) (Out%d, error) { return Out%d{A: in.A}, nil })\n", i, i, i, i)
		fmt.Fprintf(&calls, "fmt.Println(do%d.Call(ctx, node, In%d{}))\n", i, i)
	}
	return `package main

import (
	"context"
	"fmt"

	"github.com/sabir-go/sabir"
)

` + types.String() + `
func main() {
	ctx, s := context.Background(), sabir.NewService("s")
` + handles.String() + `
	node := sabir.NewNode(sabir.Serve(s))
	if err := node.Start(ctx); err != nil {
		panic(err)
	}
` + calls.String() + `}
`
}
