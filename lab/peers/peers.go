// Package peers has the peers that are not written in Go, and installs what they need.
package peers

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

//go:embed moleculer/package.json moleculer/package-lock.json moleculer/*.js
var moleculer embed.FS

// ErrMissing is in the errors of Node where Node or npm is not installed, or npm could not reach its registry.
var ErrMissing = errors.New("the peers of Node (Moleculer, cote) cannot be had")

var installing sync.Mutex

// Node returns the command that runs the program with Moleculer and cote. The first call on a machine installs them with
// "npm ci", into the user's cache folder under the lock file's hash; it says so to messages, with what npm says. It may be
// called from any number of goroutines and processes at once.
func Node(ctx context.Context, messages io.Writer) (command []string, err error) {
	installing.Lock()
	defer installing.Unlock()
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, fmt.Errorf("%w: node was not found; install Node 20 or later", ErrMissing)
	}
	dir, err := folder()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := install(ctx, dir, messages); err != nil {
			return nil, err
		}
	}
	return []string{node, filepath.Join(dir, "peer.js")}, nil
}

// folder is where this version of the program is, or goes: its name is a hash of all files.
func folder() (string, error) {
	hash := sha256.New()
	err := fs.WalkDir(moleculer, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := moleculer.ReadFile(path)
		fmt.Fprintf(hash, "%s %d\n%s", path, len(data), data)
		return err
	})
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "sabir-lab", fmt.Sprintf("moleculer-%x", hash.Sum(nil)[:8])), nil
}

// install makes the folder, whole or not at all.
func install(ctx context.Context, dir string, messages io.Writer) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("%w: npm was not found; install it with Node", ErrMissing)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	building, err := os.MkdirTemp(filepath.Dir(dir), "building-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(building)
	if err := os.CopyFS(building, must(fs.Sub(moleculer, "moleculer"))); err != nil {
		return err
	}
	fmt.Fprintf(messages, "installing Moleculer and cote with npm, once, into %s\n", dir)
	command := exec.CommandContext(ctx, npm, "ci", "--no-audit", "--no-fund", "--loglevel=error")
	command.Dir, command.Stdout, command.Stderr = building, messages, messages
	if err := command.Run(); err != nil {
		return fmt.Errorf("%w: npm ci failed: %w; is the network there?", ErrMissing, err)
	}
	err = os.Rename(building, dir)
	if _, there := os.Stat(dir); there == nil {
		return nil // also where another process was faster
	}
	return err
}

func must(files fs.FS, err error) fs.FS {
	if err != nil {
		panic(err)
	}
	return files
}
