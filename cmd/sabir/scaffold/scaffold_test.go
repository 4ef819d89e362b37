package scaffold

import (
	"go/format"
	"runtime/debug"
	"strings"
	"testing"
)

func none(string) bool { return false }

func TestNamesThatAreTakenAndRefused(t *testing.T) {
	for _, name := range []string{"shop", "my-shop", "a", "shop2", "v2x"} {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "Shop", "2shop", "my_shop", "shop-", "-shop", "my--shop", "a.b", "a/b", "main", "v2", "größe", "x y", strings.Repeat("x", 41)} {
		if CheckName(name) == nil {
			t.Errorf("%q was taken", name)
		}
	}
}

func TestModulesThatAreTakenAndRefused(t *testing.T) {
	for _, module := range []string{"shop", "example.com/team/my-shop", "example.com/a_b/c~d"} {
		if err := CheckModule(module, none); err != nil {
			t.Error(err)
		}
	}
	for _, module := range []string{"", "../x", "/x", "x/", "a//b", "a b", ".x", "a\nb", "x\"y", sabirModule, sabirModule + "/shop", strings.Repeat("x", 201)} {
		if CheckModule(module, none) == nil {
			t.Errorf("%q was taken", module)
		}
	}
	if CheckModule("context", Standard(t.Context())) == nil {
		t.Error("a package of Go's library was taken")
	}
}

func TestAReleaseIsRequiredByItsVersion(t *testing.T) {
	got := string(Source{Version: "v1.2.3"}.goMod("example.com/shop"))
	if want := "module example.com/shop\n\ngo " + goVersion + "\n\nrequire " + sabirModule + " v1.2.3\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestADevelopmentBuildFindsItsSource(t *testing.T) {
	t.Chdir(t.TempDir()) // not by the working directory
	source, err := Find(t.Context(), "")
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
	if !strings.Contains(text, "replace "+sabirModule+" => "+source.Dir+"\n") || !strings.Contains(text, " // indirect\n") {
		t.Error(text)
	}
}

func TestWithoutAGoCommandNothingIsFoundAndTheReasonIsTold(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Find(t.Context(), ""); err != errNoGo {
		t.Errorf("error %v, want %v", err, errNoGo)
	}
}

func TestTheVersionIsThatOfSabirWhoeverBuiltTheProgram(t *testing.T) {
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
