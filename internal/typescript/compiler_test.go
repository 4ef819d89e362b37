package typescript

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/sabir-go/sabir/internal/brokers"
)

// What the tests need of Node: the compiler, of the version in testdata/node/package-lock.json. It is installed once, into
// the user's cache folder under the lock file's hash, and only where the long tests run.

var compilerFiles = []string{"package.json", "package-lock.json"}

// compiler is the folder that has node_modules with the compiler.
func compiler(t testing.TB) string {
	t.Helper()
	brokers.Long(t)
	node := brokers.Program(t, "node", "nodejs")
	dir, err := compilerFolder()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	brokers.Slow(t)
	npm := brokers.Program(t, "npm", "npm")
	_ = node
	if err := installCompiler(t, npm, dir); err != nil {
		brokers.NotTested(t, "npm could not install the TypeScript compiler; is the network there? %v", err)
	}
	return dir
}

func compilerFolder() (string, error) {
	hash := sha256.New()
	for _, name := range compilerFiles {
		data, err := os.ReadFile(filepath.Join("testdata", "node", name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%s %d\n%s", name, len(data), data)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "sabir-typescript", fmt.Sprintf("%x", hash.Sum(nil)[:8])), nil
}

var installing sync.Mutex

// installCompiler makes the folder, whole or not at all.
func installCompiler(t testing.TB, npm, dir string) error {
	installing.Lock()
	defer installing.Unlock()
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	building, err := os.MkdirTemp(filepath.Dir(dir), "building-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(building)
	for _, name := range compilerFiles {
		copyFile(t, filepath.Join("testdata", "node", name), filepath.Join(building, name))
	}
	command := exec.CommandContext(t.Context(), npm, "ci", "--no-audit", "--no-fund", "--loglevel=error")
	command.Dir = building
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	err = os.Rename(building, dir)
	if _, there := os.Stat(dir); there == nil {
		return nil // also where another process was faster
	}
	return err
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// workshop is a folder with the checks and with the module under a name.
func workshop(t testing.TB, module []byte) string {
	t.Helper()
	dir := t.TempDir()
	files, err := filepath.Glob(filepath.Join("testdata", "node", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal("testdata/node is empty", err)
	}
	for _, name := range files {
		copyFile(t, name, filepath.Join(dir, filepath.Base(name)))
	}
	if err := os.WriteFile(filepath.Join(dir, "shop.ts"), module, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tsc runs the compiler in a folder.
func tsc(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := runTSC(t, dir, args...)
	if err != nil {
		t.Fatalf("tsc %q: %v\n%s", args, err, out)
	}
	return out
}

func runTSC(t testing.TB, dir string, args ...string) (string, error) {
	t.Helper()
	script := filepath.Join(compiler(t), "node_modules", "typescript", "bin", "tsc")
	command := exec.CommandContext(t.Context(), brokers.Program(t, "node", "nodejs"), append([]string{script}, args...)...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		t.Fatal(err)
	}
	return string(out), err
}

// shopModule is the module of the shop.
func shopModule(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, shop(t)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
