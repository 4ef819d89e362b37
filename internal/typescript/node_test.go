package typescript

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/internal/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Stopping(cleaning{m})) }

// cleaning removes the files that the tests share.
type cleaning struct{ tests interface{ Run() int } }

func (c cleaning) Run() int {
	defer func() {
		if built.dir != "" {
			os.RemoveAll(built.dir)
		}
	}()
	return c.tests.Run()
}

var built struct {
	sync.Mutex
	dir string
}

// emitted is a folder with the checks and the module as JavaScript. It is made once, since the compiler takes its time.
func emitted(t *testing.T) string {
	t.Helper()
	compiler(t)
	built.Lock()
	defer built.Unlock()
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "sabir-typescript-")
		if err != nil {
			t.Fatal(err)
		}
		built.dir = dir
		source := workshop(t, shopModule(t))
		tsc(t, source, "--noEmitOnError", "--outDir", dir)
		copyFile(t, filepath.Join(source, "index.html"), filepath.Join(dir, "index.html"))
		if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return built.dir
}

// The options are those of testdata/node/tsconfig.json. What must not compile is at the end of checks.ts.
func TestTheModuleCompilesUnderTheStrictestOptions(t *testing.T) {
	if _, err := os.Stat(filepath.Join(emitted(t), "shop.js")); err != nil {
		t.Error(err)
	}
}

func TestInNodeTheClientDoesWhatItMust(t *testing.T) {
	dir := emitted(t)
	server, s := startShop(t, nil)
	// Node has WebSocket since version 22, and 20 with this flag.
	command := exec.CommandContext(t.Context(), brokers.Program(t, "node", "nodejs"), "--experimental-websocket", "--disallow-code-generation-from-strings",
		filepath.Join(dir, "main.js"), server.URL)
	out, err := command.CombinedOutput()
	judge(t, string(out), err)
	s.expectLeft("/clock/wait", "/log/tail", "/events", "/chat/room")
}

// judge reads the lines of the checks.
func judge(t *testing.T, lines string, err error) {
	t.Helper()
	if n := strings.Count(lines, "\nok ") + strings.Count(lines, "FAILED "); n < 15 {
		t.Errorf("only %d checks ran", n)
	}
	if err != nil || strings.Contains(lines, "FAILED ") {
		t.Errorf("%v\n%s", err, lines)
	}
}

// expectLeft waits until requests for these addresses were canceled by their callers.
func (s *shopServer) expectLeft(paths ...string) {
	s.t.Helper()
	missing := map[string]bool{}
	for _, path := range paths {
		missing[path] = true
	}
	for len(missing) > 0 {
		select {
		case path := <-s.left:
			delete(missing, path)
		case <-time.After(time.Minute):
			s.t.Fatalf("nobody gave up %v", missing)
		}
	}
}

// wide is an API with many routes.
func wide(t testing.TB, n int) api.API {
	t.Helper()
	a := &adding{t: t, api: api.API{Title: "Wide"}}
	for i := range n {
		name := fmt.Sprintf("s%d.get%d", i/10, i)
		e := api.Error{Name: fmt.Sprintf("NoSuch%d", i), Code: "NotFound", Status: 404, Data: a.schema(of[NoUser](), schema.Output)}
		a.action(name, "/"+strings.ReplaceAll(name, ".", "/"), nil, nil, api.Action{Errors: []api.Error{e},
			Routes: []route.Route{{Method: "GET", Pattern: fmt.Sprintf("/things%d/{id}", i), Params: []route.Param{{Name: "id", In: "path", Field: "id"}}}}})
		last := &a.api.Actions[i]
		last.In = &schema.Schema{Ref: fmt.Sprintf("#/$defs/In%d", i)}
		last.Out = &schema.Schema{Ref: fmt.Sprintf("#/$defs/Out%d", i)}
	}
	a.schema(of[User](), schema.Output)
	a.api.Types = a.set.Defs
	for i := range n {
		id := schema.Schema{Type: schema.Types{"integer"}, Format: "int64"}
		at := schema.Schema{Type: schema.Types{"string"}, Format: "date-time"}
		a.api.Types[fmt.Sprintf("In%d", i)] = &schema.Schema{Type: schema.Types{"object"}, Properties: schema.Properties{{Name: "id", Schema: &id}, {Name: "at", Schema: &at}}, Required: []string{"id"}}
		user := schema.Schema{Ref: "#/$defs/User"}
		a.api.Types[fmt.Sprintf("Out%d", i)] = &schema.Schema{Type: schema.Types{"object"}, Properties: schema.Properties{{Name: "id", Schema: &id}, {Name: "user", Schema: &user}}, Required: []string{"id", "user"}}
	}
	return a.api
}

var instantiated = regexp.MustCompile(`Instantiations:\s+(\d+)`)

func instantiations(t *testing.T, routes int) int {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "wide.ts"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Write(f, wide(t, routes)); err != nil {
		t.Fatal(err)
	}
	use := `import { createClient } from "./wide.js";
const api = createClient({ baseUrl: "" });
export const got = await api.s0.get0({ id: 1n, at: new Date() });
export const year = got.ok ? got.value.user.born.getFullYear() : got.error.name === "NoSuch0" ? got.error.data.id : got.error.message;
`
	if err := os.WriteFile(filepath.Join(dir, "use.ts"), []byte(use), 0o644); err != nil {
		t.Fatal(err)
	}
	out := tsc(t, dir, "--noEmit", "--strict", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler", "--lib", "es2022,dom",
		"--skipLibCheck", "--extendedDiagnostics", "use.ts")
	found := instantiated.FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("tsc does not tell the instantiations:\n%s", out)
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d routes: %s", routes, strings.Join(strings.Fields(regexp.MustCompile(`(Instantiations|Check time|Types|Total time):\s+\S+`).ReplaceAllStringFunc(out, func(s string) string { return s })), " "))
	return n
}

func TestARouteCostsTheCompilerAtMostTenInstantiations(t *testing.T) {
	const routes = 200
	n := instantiations(t, routes)
	perRoute := float64(n) / routes
	t.Logf("%d instantiations for %d routes: %.1f each, the module's fixed part included", n, routes, perRoute)
	if perRoute > 10 {
		t.Errorf("%.1f instantiations a route", perRoute)
	}
}

func TestTheModuleIsTheSameEachTime(t *testing.T) {
	first := string(shopModule(t))
	for range 5 {
		if string(shopModule(t)) != first {
			t.Fatal("it is another one")
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	a := wide(b, 200)
	for b.Loop() {
		if err := Write(io.Discard, a); err != nil {
			b.Fatal(err)
		}
	}
}
