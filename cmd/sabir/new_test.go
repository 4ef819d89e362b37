package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"
)

func TestANewServiceBuildsAndPassesItsTestWithoutNetwork(t *testing.T) {
	brokers.Slow(t) // it builds a program
	dir, source := t.TempDir(), checkout(t)
	t.Chdir(dir)
	got := sabirRun(t, "new", "shop", "--json", "--sabir", source)
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	result := oneJSON[newResult](t, got.out)
	if result.Dir != filepath.Join(dir, "shop") || result.Module != "shop" || !slices.Contains(result.Files, "shop_test.go") {
		t.Errorf("%+v", result)
	}
	for _, args := range [][]string{{"vet", "./..."}, {"test", "./..."}} {
		command := exec.CommandContext(t.Context(), "go", args...)
		command.Dir = result.Dir
		command.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=readonly", "GOWORK=off")
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("go %v: %v\n%s", args, err, out)
		}
	}
}

func TestNewOfAProgramBuiltWithTrimpathFindsTheSourceAboveItsFileOrSaysWhatToDo(t *testing.T) {
	brokers.Slow(t) // it builds a program
	checkout, elsewhere := t.TempDir(), t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(checkout, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	inside, outside := filepath.Join(checkout, "bin", "sabir"), filepath.Join(elsewhere, "sabir")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", inside, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Rename(inside, outside); err != nil {
		t.Fatal(err)
	}
	run := func(program string) (string, error) {
		command := exec.CommandContext(t.Context(), program, "new", "greeter", "--deploy")
		command.Dir = t.TempDir()
		out, err := command.CombinedOutput()
		return string(out), err
	}
	out, err := run(outside)
	for _, want := range []string{"-trimpath", "--sabir DIR", "go install github.com/sabir-go/sabir/cmd/sabir@latest"} {
		if err == nil || !strings.Contains(out, want) {
			t.Errorf("outside of a checkout: %v, and %q is not in:\n%s", err, want, out)
		}
	}
	if err := os.Rename(outside, inside); err != nil {
		t.Fatal(err)
	}
	if out, err := run(inside); err != nil {
		t.Errorf("inside of a checkout: %v\n%s", err, out)
	}
}

// checkout is the folder of Sabir's source.
func checkout(t *testing.T) string {
	t.Helper()
	source, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func TestNewOverwritesNothing(t *testing.T) {
	source := checkout(t)
	t.Chdir(t.TempDir())
	if err := os.Mkdir("shop", 0o755); err != nil {
		t.Fatal(err)
	}
	if got := sabirRun(t, "new", "shop", "--sabir", source); got.code != exitOK {
		t.Errorf("an empty directory: %+v", got)
	}
	if got := sabirRun(t, "new", "other", "--dir", "shop", "--sabir", source); got.code != exitFailed || !strings.Contains(got.errOut, "is not empty") {
		t.Errorf("one with files: %+v", got)
	}
	if _, err := os.Stat(filepath.Join("shop", "other.go")); err == nil {
		t.Error("a file was written all the same")
	}
}

func TestNewSaysThatItUsesADevelopmentVersionAndWhatIsNext(t *testing.T) {
	source := checkout(t)
	t.Chdir(t.TempDir())
	got := sabirRun(t, "new", "shop", "--module", "example.com/team/shop", "--dir", "services/shop", "--sabir", source)
	for _, want := range []string{"module example.com/team/shop", "development version", "cd services/shop && go test ./..."} {
		if got.code != exitOK || !strings.Contains(got.out, want) {
			t.Errorf("%q is not in %+v", want, got)
		}
	}
	if got := sabirRun(t, "new", "other", "--sabir", t.TempDir()); got.code != exitFailed || !strings.Contains(got.errOut, "not in a checkout") {
		t.Errorf("a directory that is no checkout: %+v", got)
	}
}
