package brokers

import (
	"os"
	"os/exec"
	"testing"
)

// NodeModules copies a folder with a package-lock.json to another, and installs there what it names, of the versions in it. Scripts of packages
// are not run. Where the registry of npm cannot be reached it skips the test, see [NotTested].
func NodeModules(t testing.TB, from, to string) {
	t.Helper()
	npm := Program(t, "npm", "npm")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	install := exec.CommandContext(t.Context(), npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	install.Dir = to
	if out, err := install.CombinedOutput(); err != nil {
		NotTested(t, "npm could not install the packages of %s; is the network there? %v\n%s", from, err, out)
	}
}
