package scaffold

import (
	"cmp"
	"errors"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/sabir-go/sabir/internal/brokers"
)

func TestNamesThatAreRefusedAndWhy(t *testing.T) {
	const form = "not made of lower-case letters"
	for name, want := range map[string]string{
		"": "is empty", strings.Repeat("x", 41): "longer than 40 characters",
		"Shop": form, "2shop": form, "my_shop": form, "shop-": form, "-shop": form, "my--shop": form, "a.b": form, "a/b": form,
		"größe": form, "x y": form, "_shop": form, ".shop": form, "shop_test": form, "con.txt": form, "..": form, "a\x00": form,
		"main": "something else", "v2": "something else",
		"con": "Windows", "prn": "Windows", "aux": "Windows", "nul": "Windows", "com1": "Windows", "com9": "Windows", "lpt1": "Windows", "lpt9": "Windows",
	} {
		if err := CheckName(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", name, err, want)
		}
	}
}

func TestModulesThatAreRefusedAndWhy(t *testing.T) {
	standard := Standard(t.Context())
	const form = "no path of a module"
	for path, want := range map[string]string{
		"": form, "../x": form, "/x": form, "x/": form, "a//b": form, "a b": form, ".x": form, "a\nb": form, "x\"y": form, strings.Repeat("x", 201): form,
		"example.com/größe": form, "example.com/.x": form,
		sabirModule: "Sabir's own", sabirModule + "/shop": "Sabir's own",
		"context": "of Go's library", "net/http": "of Go's library", "internal": "of Go's library", "vendor": "of Go's library",
		"all": "something else", "std": "something else", "cmd": "something else", "tool": "something else", "work": "something else",
		"go": "something else", "toolchain": "something else",
		"con": "Windows", "example.com/x/con": "Windows", "example.com/AUX.git": "Windows", "com1/shop": "Windows",
		"example.com/x.": "trailing dot", "example.com/a~1": "trailing tilde", "Example.com/x": "invalid char", "example.com/x/v1": "version",
	} {
		if err := CheckModule(path, standard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", path, err, want)
		}
	}
}

// What is taken must build, whatever else its name means to Go, to a file system or to the go command.
func TestWhatIsTakenBuilds(t *testing.T) {
	brokers.Slow(t) // it checks the types of many modules
	source, err := Find(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	standard := Standard(t.Context())
	for _, test := range []struct{ name, path string }{
		{"shop", ""}, {"my-shop", ""}, {"a", ""}, {"shop2", ""}, {"v2x", ""}, {strings.Repeat("x", 40), ""},
		{"func", ""}, {"type", ""}, {"package", ""}, {"require", ""}, {"module", ""}, // keywords of Go and of go.mod
		{"string", ""}, {"nil", ""}, {"error", ""}, {"init", ""}, {"c", ""}, // names that Go declares or treats in a special way
		{"linux", ""}, {"amd64", ""}, {"shop-windows", ""}, {"test", ""}, {"shop-test", ""}, {"readme", ""}, // parts of file names with a meaning
		{"console", ""}, {"com10", ""}, {"example", ""},
		{"http", ""}, {"context", "example.com/context"}, {"internal", "example.com/internal"}, {"tool", "example.com/tool"},
		{"testdata", "example.com/testdata"}, {"vendor", "example.com/team/vendor"},
		{"shop", "example.com/team/My-Shop"}, {"shop", "example.com/a_b/c~d"}, {"shop", "example.com/shop/v2"}, {"shop", "team/shop"},
	} {
		path := cmp.Or(test.path, test.name)
		t.Run(test.name+" as "+strings.ReplaceAll(path, "/", "_"), func(t *testing.T) {
			if err := errors.Join(CheckName(test.name), CheckModule(path, standard)); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), test.name)
			if _, err := Write(Plan{Name: test.name, Module: path, Dir: dir, Sabir: source}); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"list", "-f", "{{.ImportPath}} {{len .TestGoFiles}} {{len .GoFiles}}", "."}, {"vet", "./..."}} {
				command := exec.CommandContext(t.Context(), "go", args...)
				command.Dir = dir
				command.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=readonly", "GOWORK=off")
				out, err := command.CombinedOutput()
				if err != nil {
					t.Fatalf("go %v: %v\n%s", args, err, out)
				}
				if want := path + " 1 2\n"; args[0] == "list" && string(out) != want {
					t.Errorf("the package is %q, want %q: some file is left out", out, want)
				}
			}
		})
	}
}

func TestAReleaseIsRequiredByItsVersion(t *testing.T) {
	got := string(Source{Version: "v1.2.3"}.goMod("example.com/shop"))
	if want := "module example.com/shop\n\ngo " + goVersion + "\n\nrequire " + sabirModule + " v1.2.3\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestADevelopmentBuildFindsItsSource(t *testing.T) {
	self, err := filepath.Abs("source.go")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // not by the working directory
	source, err := find(t.Context(), "", self)
	if err != nil {
		t.Fatal(err)
	}
	if source.Released() || source.module.Module.Path != sabirModule {
		t.Errorf("%+v", source)
	}
	if source.module.Go != goVersion {
		t.Errorf("Sabir needs Go %s, and the constant says %s", source.module.Go, goVersion)
	}
	text := string(source.goMod("shop"))
	if !strings.Contains(text, "replace "+sabirModule+" => "+modfile.AutoQuote(source.Dir)+"\n") || !strings.Contains(text, " // indirect\n") {
		t.Error(text)
	}
}

func TestWithoutAGoCommandNothingIsFoundAndTheReasonIsGiven(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Find(t.Context(), ""); err != errNoGo {
		t.Errorf("error %v, want %v", err, errNoGo)
	}
}

func TestTheVersionIsThatOfSabirInAnyProgram(t *testing.T) {
	sabir := debug.Module{Path: sabirModule, Version: "v1.2.3", Sum: "h1:x"}
	for name, info := range map[string]debug.BuildInfo{
		"itself":    {Main: sabir},
		"as a tool": {Main: debug.Module{Path: "example.com/x"}, Deps: []*debug.Module{{Path: "a"}, &sabir}},
	} {
		if got := ModuleIn(&info); got.Version != "v1.2.3" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := ModuleIn(&debug.BuildInfo{}); got != (debug.Module{}) {
		t.Errorf("of another program: %+v", got)
	}
}

func TestUnusualDirectoriesAreQuoted(t *testing.T) {
	for path, want := range map[string]string{"/src/sabir": "/src/sabir", "/my src/sabir": `"/my src/sabir"`, `/a"b`: `"/a\"b"`} {
		if got := quoted(path); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestWhatIsWrittenIsFormatted(t *testing.T) {
	contents, err := Plan{Name: "my-shop", Module: "my-shop", Sabir: Source{Version: "v1.2.3"}}.render()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range contents {
		if !strings.HasSuffix(file.name, ".go") {
			continue
		}
		formatted, err := format.Source(file.text)
		if err != nil || string(formatted) != string(file.text) {
			t.Errorf("%s is not as gofmt writes it (%v)", file.name, err)
		}
	}
}

func TestTheReadmeNamesTheFilesOfTheDeployment(t *testing.T) {
	for _, deploy := range []bool{true, false} {
		p := Plan{Name: "shop", Module: "example.com/shop", Deploy: deploy}
		contents, err := p.render()
		if err != nil {
			t.Fatal(err)
		}
		readme := ""
		for _, one := range contents {
			if one.name == "README.md" {
				readme = string(one.text)
			}
		}
		for _, file := range (Plan{Name: "shop", Deploy: true}).deployment() {
			name := file.name
			if folder := "deploy/kubernetes/"; strings.HasPrefix(name, folder) {
				name = folder // as a whole
			}
			if strings.Contains(readme, "`"+name+"`") != deploy {
				t.Errorf("with deploy %v, %s is in the README: %v", deploy, name, !deploy)
			}
		}
	}
}

func TestAServiceThatCannotBeWrittenWholeLeavesNothingInItsDirectory(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("x", 300) // no file system takes a file of that name, which comes behind others
	for _, deploy := range []bool{false, true} {
		if _, err := Write(Plan{Name: long, Module: long, Dir: dir, Deploy: deploy}); err == nil {
			t.Fatal("written")
		}
		if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
			t.Errorf("with deploy %v there is left %v, %v", deploy, left, err)
		}
	}
}
