package peers

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWithoutNodeTheErrorSaysWhatToInstall(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Node(t.Context(), io.Discard)
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "install Node 20") {
		t.Errorf("got %v", err)
	}
}

func TestAnInstallationThatFailsLeavesNothing(t *testing.T) {
	programs, cache := t.TempDir(), t.TempDir()
	for _, name := range []string{"node", "npm"} {
		script := "#!/bin/sh\necho no network; exit 1\n"
		if err := os.WriteFile(filepath.Join(programs, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", programs+":/bin:/usr/bin")
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	var said strings.Builder
	_, err := Node(t.Context(), &said)
	if !errors.Is(err, ErrMissing) || !strings.Contains(said.String(), "no network") {
		t.Errorf("got %v, said %q", err, said.String())
	}
	left, err := filepath.Glob(filepath.Join(cache, "sabir-lab", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestAnInstallationIsMadeOnce(t *testing.T) {
	programs, cache := t.TempDir(), t.TempDir()
	for _, name := range []string{"node", "npm"} {
		script := "#!/bin/sh\necho installed\n"
		if err := os.WriteFile(filepath.Join(programs, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", programs+":/bin:/usr/bin")
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	var said strings.Builder
	for range 2 {
		command, err := Node(t.Context(), &said)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(command[1]); err != nil || len(command) != 2 {
			t.Errorf("command %q: %v", command, err)
		}
	}
	if n := strings.Count(said.String(), "installed"); n != 1 {
		t.Errorf("npm ran %d times", n)
	}
}
