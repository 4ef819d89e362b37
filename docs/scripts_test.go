package docs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
)

// The scripts run in namespaces of network and processes of their own, so that they may use the ports of the pages and whatever they start ends
// with them. There is no network: modules are those of the checkout.
const prelude = `
set -euo pipefail
ip link set lo up
export GOFLAGS="${GOFLAGS:-}" GOPROXY=off GONOSUMDB=* GOWORK=off GOBIN='%[2]s' PATH='%[2]s':$PATH HOME=$PWD
unset SABIR_JOIN SABIR_KEY SABIR_URL
ln -s '%[1]s' sabir # the checkout beside the module
curl() { command curl -sS "$@"; echo; }
in_checkout() { cd '%[1]s'; }
python3() { /usr/bin/python3 "$@"; } # the one that has the system's packages
source() { cp '%[1]s'/examples/start/$1/main.go .; }
up() { for i in {1..600}; do if command curl -sfo /dev/null $1/health; then return; fi; sleep 0.1; done; return 1; }
`

// fetchModules has go mod tidy read what the pages' own tidy reads, with network: it asks for the go.mod files of modules that only tests of
// libraries need, which a new machine does not have.
func fetchModules(t *testing.T) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(root, "examples", "start"))); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "hello"}, {"edit", "-require=github.com/sabir-go/sabir@v0.0.0", "-replace=github.com/sabir-go/sabir=" + root}, {"tidy"}} {
		command := exec.Command("go", append([]string{"mod"}, args...)...)
		command.Dir, command.Env = folder, append(os.Environ(), "GOWORK=off", "GONOSUMDB=*")
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("go mod %v: %v\n%s", args, err, out)
		}
	}
}

// installPrograms installs the command line, as the first page says, and grpcurl into a folder of their own.
func installPrograms(t *testing.T) string {
	t.Helper()
	programs := t.TempDir()
	install := func(what ...string) ([]byte, error) {
		command := exec.Command("go", append([]string{"install"}, what...)...)
		command.Dir, command.Env = "..", append(os.Environ(), "GOBIN="+programs)
		return command.CombinedOutput()
	}
	if out, err := install("./cmd/sabir"); err != nil {
		t.Fatalf("sabir: %v\n%s", err, out)
	}
	if out, err := install("-ldflags=-s -w", "github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.4"); err != nil {
		brokers.NotTested(t, "grpcurl could not be installed; is the network there? %v\n%s", err, out)
	}
	return programs
}

// outputs runs a script, with the programs of a folder, and returns what each of its regions printed.
func outputs(t *testing.T, script, programs string) map[string]string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	goEnv, err := exec.Command("go", "env", "GOMODCACHE", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	caches := strings.Split(strings.TrimSpace(string(goEnv)), "\n")
	var b strings.Builder
	fmt.Fprintf(&b, prelude, root, programs)
	for line := range strings.Lines(script) {
		bare := strings.TrimSuffix(line, "\n")
		switch m := regionBegin.FindStringSubmatch(bare); {
		case m != nil:
			fmt.Fprintf(&b, "echo '<<< %s'\n", m[1])
		case regionEnd.MatchString(bare):
			b.WriteString("echo '>>>'\n")
		default:
			b.WriteString(line)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "bash", "-c", b.String())
	command.Dir = folder
	command.Env = append(os.Environ(), "GOMODCACHE="+caches[0], "GOCACHE="+caches[1], "NO_COLOR=1")
	var out bytes.Buffer
	command.Stdout, command.Stderr, command.WaitDelay = &out, &out, 10*time.Second
	if err := command.Run(); err != nil {
		t.Fatalf("the script failed: %v\n%s", err, out.String())
	}
	printed := map[string]string{}
	for _, m := range regexp.MustCompile(`(?ms)^<<< (\S+)\n(.*?)^>>>\n`).FindAllStringSubmatch(strings.ReplaceAll(out.String(), "\r\n", "\n"), -1) {
		printed[m[1]] = m[2]
	}
	return printed
}

// matches tells whether an output has the lines of a page in their order. In a line … stands for any text, and spaces for any number
// of them, since the widths of columns differ. Other lines may lie between.
func matches(shown, printed string) bool {
	var pattern strings.Builder
	pattern.WriteString(`^`)
	for line := range strings.Lines(shown) {
		line = strings.TrimSpace(line)
		if line == "…" {
			continue // lines of the output may lie between those of the page anywhere
		}
		words := strings.Fields(line)
		for i, w := range words {
			words[i] = strings.ReplaceAll(regexp.QuoteMeta(w), "…", `[^\n]*?`)
		}
		pattern.WriteString(`(?:[^\n]*\n)*?[ \t]*` + strings.Join(words, `[ \t]+`) + `[ \t]*\n`)
	}
	return regexp.MustCompile(pattern.String()).MatchString(printed)
}

func TestTheScriptsOfThePagesPrintWhatThePagesShow(t *testing.T) {
	brokers.Slow(t) // it builds programs
	brokers.Program(t, "unshare", "util-linux")
	brokers.Program(t, "curl", "curl")
	brokers.Program(t, "openssl", "openssl")
	brokers.Program(t, "ip", "iproute2")
	if out, err := exec.Command("/usr/bin/python3", "-c", "import grpc, grpc_tools").CombinedOutput(); err != nil {
		brokers.NotTested(t, "python3-grpcio and python3-grpc-tools are not installed: %s", bytes.TrimSpace(out))
	}
	if out, err := exec.Command("unshare", "--net", "--pid", "--fork", "--mount-proc", "true").CombinedOutput(); err != nil {
		brokers.NotTested(t, "namespaces cannot be made here: %s", bytes.TrimSpace(out))
	}
	shown := map[string][]block{}
	for _, page := range pages(t) {
		for _, b := range blocksOf(page, readFile(t, page)) {
			if path, _, _ := strings.Cut(b.source, "#"); b.language == "text" && strings.HasSuffix(path, ".sh") {
				shown[path] = append(shown[path], b)
			}
		}
	}
	scripts, err := filepath.Glob("testdata/*.sh")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	fetchModules(t)
	programs := installPrograms(t)
	for _, script := range scripts {
		path := "docs/" + filepath.ToSlash(script)
		t.Run(filepath.Base(script), func(t *testing.T) {
			printed := outputs(t, readFile(t, path), programs)
			for _, b := range shown[path] {
				_, name, _ := strings.Cut(b.source, "#")
				if !matches(b.text, printed[name]) {
					t.Errorf("%s shows\n%s\nand the script printed\n%s", b.where(), b.text, printed[name])
				}
			}
			if len(shown[path]) == 0 {
				for name, text := range printed {
					t.Logf("%s\n%s", name, text)
				}
			}
		})
	}
}

func TestAnOutputMatchesWhereTheLinesOfThePageAreInIt(t *testing.T) {
	const printed = "a  b 12\nNODE    STATE\none     running\n"
	for shown, want := range map[string]bool{
		"a b …\n":               true,
		"NODE STATE\none …\n":   true,
		"a b …\n…\none running": true,
		"one …\nNODE STATE\n":   false,
		"NODE\n":                false,
		"two …\n":               false,
	} {
		if matches(shown, printed) != want {
			t.Errorf("%q: %v, want %v", shown, !want, want)
		}
	}
}
