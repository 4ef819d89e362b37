package scaffold

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

const (
	sabirModule = "github.com/sabir-go/sabir"
	goVersion   = "1.26.0" // what Sabir needs
)

// Source is the place from which a new module gets Sabir: a released version, or a directory with its source.
type Source struct {
	Version string // "" for a directory
	Dir     string // absolute

	module goMod  // of the directory
	sums   []byte // its go.sum
}

// Released reports whether the source is a version that can be downloaded.
func (s Source) Released() bool { return s.Dir == "" }

// ErrNoSource is returned by Find for a development build whose source is not at hand.
var ErrNoSource = errors.New("this sabir is a development build, so a new module needs Sabir's source, which was found neither above the working " +
	"directory nor above the program; built with -trimpath it does not know where it came from. Run it in a checkout of " + sabirModule + ", name one with --sabir DIR, " +
	"or install a release with go install " + sabirModule + "/cmd/sabir@latest")

var errNoGo = errors.New("there is no go command in the PATH: install Go from https://go.dev/dl")

// ModuleIn finds Sabir's module in a program's build information: the program's own, or one that it depends on.
func ModuleIn(info *debug.BuildInfo) debug.Module {
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path == sabirModule {
			if m.Replace != nil {
				return *m.Replace
			}
			return *m
		}
	}
	return debug.Module{}
}

// Find finds the Sabir that a new module should use: the directory, if one is given; the version of this program, if it
// was built from a download; else the source that the working directory, this program's code or its file belongs to.
func Find(ctx context.Context, dir string) (Source, error) {
	_, self, _, _ := runtime.Caller(0) // no path of this machine where the program was built with -trimpath
	return find(ctx, dir, self)
}

// find is Find for a program whose code lies at self.
func find(ctx context.Context, dir, self string) (Source, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return Source{}, errNoGo
	}
	if dir != "" {
		root, ok := rootAbove(ctx, dir)
		if !ok {
			return Source{}, fmt.Errorf("%s is not in a checkout of %s: its go.mod says something else, or there is none", dir, sabirModule)
		}
		return fromDir(ctx, root)
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if m := ModuleIn(info); m.Sum != "" { // only what was downloaded has a checksum
			return Source{Version: m.Version}, nil
		}
	}
	starts := []string{".", filepath.Dir(self)}
	if program, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(program))
	}
	for _, start := range starts {
		if root, ok := rootAbove(ctx, start); ok {
			return fromDir(ctx, root)
		}
	}
	return Source{}, ErrNoSource
}

// rootAbove finds the directory of Sabir's go.mod, in dir or above it.
func rootAbove(ctx context.Context, dir string) (string, bool) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", false
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			if m, err := readGoMod(ctx, dir); err == nil && m.Module.Path == sabirModule {
				return dir, true
			}
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", false
		}
		dir = above
	}
}

func fromDir(ctx context.Context, dir string) (Source, error) {
	m, err := readGoMod(ctx, dir)
	if err != nil {
		return Source{}, err
	}
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		return Source{}, err
	}
	return Source{Dir: dir, module: m, sums: sums}, nil
}

// goMod is the part of the output of "go mod edit -json" that is needed.
type goMod struct {
	Module  struct{ Path string }
	Go      string
	Require []struct{ Path, Version string }
}

func readGoMod(ctx context.Context, dir string) (m goMod, err error) {
	out, err := goTool(ctx, dir, "mod", "edit", "-json")
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(out, &m)
}

// goMod writes the go.mod of a module that uses this Sabir. With a directory it requires all that Sabir does, in the same
// versions, so that it builds with what Sabir was built with, without network; "go mod tidy" makes it shorter.
func (s Source) goMod(module string) []byte {
	var b strings.Builder
	if s.Released() {
		fmt.Fprintf(&b, "module %s\n\ngo %s\n\nrequire %s %s\n", module, goVersion, sabirModule, s.Version)
		return []byte(b.String())
	}
	fmt.Fprintf(&b, "module %s\n\ngo %s\n\n", module, s.module.Go)
	fmt.Fprintf(&b, "// A development version of Sabir: take the line away, and go get %s@latest, when you use a release.\n", sabirModule)
	fmt.Fprintf(&b, "replace %s => %s\n\nrequire %s v0.0.0\n", sabirModule, quoted(s.Dir), sabirModule)
	if len(s.module.Require) > 0 {
		b.WriteString("\nrequire (\n")
		for _, r := range s.module.Require {
			fmt.Fprintf(&b, "\t%s %s // indirect\n", r.Path, r.Version)
		}
		b.WriteString(")\n")
	}
	return []byte(b.String())
}

// quoted writes a path for a go.mod, which takes Go's strings where a path has anything unusual in it.
func quoted(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`()[]{},;", r) || r > '~' }) {
		return fmt.Sprintf("%q", path)
	}
	return path
}

// Tidy runs "go mod tidy" in a module; it may use the network.
func Tidy(ctx context.Context, dir string) error {
	_, err := goTool(ctx, dir, "mod", "tidy")
	return err
}

// Standard returns a function that reports whether a path is of Go's library. Without a go tool nothing seems to be.
func Standard(ctx context.Context) func(path string) bool {
	return func(path string) bool {
		root, err := goTool(ctx, ".", "env", "GOROOT")
		if err != nil {
			return false
		}
		_, err = os.Stat(filepath.Join(strings.TrimSpace(string(root)), "src", filepath.FromSlash(path)))
		return err == nil
	}
}

// goTool runs the go command and returns what it writes.
func goTool(ctx context.Context, dir string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOWORK=off")
	out, err := command.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errNoGo
	}
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(failed.Stderr)))
	}
	return out, err
}
