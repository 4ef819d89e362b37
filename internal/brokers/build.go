package brokers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// cached is the path where a program that is built, such as one in a version, is kept in the user's cache folder, and whether it is there.
func cached(name string) (program string, there bool) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	program = filepath.Join(cache, "sabir-brokers", name)
	_, err = exec.LookPath(program)
	return program, err == nil
}

// built returns the program of a name in the cache, which the function builds from a folder of its own where it is not there. Packages that are tested
// at the same time build it once.
func built(name string, build func(dir, program string) error) (string, error) {
	program, there := cached(name)
	if there {
		return program, nil
	}
	cache := filepath.Dir(program)
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	unlock, err := lock(program + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, there := cached(name); there {
		return program, nil
	}
	dir, err := os.MkdirTemp(cache, "building-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "program")
	if err := build(dir, made); err != nil {
		return "", err
	}
	return program, os.Rename(made, program) // whole or not at all
}

// goCommand runs the go command in a folder, or the working directory.
func goCommand(dir string, arguments ...string) (string, error) {
	command := exec.Command("go", arguments...)
	command.Dir = dir
	output, err := command.Output()
	if err != nil {
		text := ""
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			text = string(failed.Stderr)
		}
		return "", fmt.Errorf("a broker cannot be built: go %s: %w\n%s", strings.Join(arguments, " "), err, text)
	}
	return strings.TrimSpace(string(output)), nil
}
