package main

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"
)

// withoutC is the environment of a build that links nothing of C.
func withoutC(more ...string) []string { return append(append(os.Environ(), "CGO_ENABLED=0"), more...) }

// isStatic fails for a program that needs a loader or shared libraries, which an image without a system does not have.
func isStatic(t *testing.T, program string) {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Errorf("%s needs a loader", program)
		}
	}
	if libraries, err := f.ImportedLibraries(); err != nil || len(libraries) > 0 {
		t.Errorf("%s needs %v, %v", program, libraries, err)
	}
}

// It asks for the packages, of which one that is written in C only would be an error, and builds nothing: that takes over a minute, and
// ./release does it.
func TestNoPackageOfTheCommandLineNeedsC(t *testing.T) {
	brokers.Long(t)
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", ".")
	list.Env = withoutC()
	if out, err := list.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestWhatNewDeployWroteIsBuiltWithoutC(t *testing.T) {
	brokers.Slow(t) // it builds a program
	dir := filepath.Join(t.TempDir(), "greeter")
	source := checkout(t)
	if got := sabirRun(t, "new", "greeter", "--deploy", "--dir", dir, "--sabir", source); got.code != exitOK {
		t.Fatalf("%s%s", got.out, got.errOut)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", "greeter", ".")
	build.Dir, build.Env = dir, withoutC("GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	isStatic(t, filepath.Join(dir, "greeter"))
}
