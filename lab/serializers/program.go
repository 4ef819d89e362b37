package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	peers "github.com/sabir-go/sabir/lab/peers/serializers"
)

// program is what runs contenders of another language: it is given the name of one.
type program struct {
	command []string
	dir     string
	env     string // one more variable of the environment
	warm    time.Duration
}

// nodeProgram installs the packages of Node by their lock file when they are not there, and writes the programs.
func nodeProgram(ctx context.Context, messages io.Writer) (program, error) {
	p := program{command: []string{"node", "--expose-gc", "child.js"}, warm: 300 * time.Millisecond}
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			return p, fmt.Errorf("%s is not here; install Node 20 with npm", tool)
		}
	}
	var err error
	p.dir, err = installed(ctx, messages, "node_modules", "npm", "ci", "--no-audit", "--no-fund")
	return p, err
}

// javaProgram does the same with the libraries of Java.
func javaProgram(ctx context.Context, messages io.Writer) (program, error) {
	// hessian-lite reaches into the classes of java.lang and java.math.
	p := program{command: []string{"java", "--add-opens", "java.base/java.lang=ALL-UNNAMED", "--add-opens", "java.base/java.math=ALL-UNNAMED",
		"-cp", "lib/*", "java/Peer.java"}, warm: 1500 * time.Millisecond}
	for _, tool := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(tool); err != nil {
			return p, fmt.Errorf("%s is not here; install Java 17 with Maven", tool)
		}
	}
	var err error
	p.dir, err = installed(ctx, messages, "lib", "mvn", "-q", "-B", "-f", "java/pom.xml", "dependency:copy-dependencies", "-DoutputDirectory=../lib")
	return p, err
}

// installed is a folder of the user's cache with the programs and what the command put there at the first run. The folder is
// named after what it was made from, so another list of packages gets another folder.
func installed(ctx context.Context, messages io.Writer, product string, command ...string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	list := "package-lock.json"
	if product == "lib" {
		list = "java/pom.xml"
	}
	packages, err := peers.Files.ReadFile(list)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "sabir-lab-serializers", fmt.Sprintf("%s-%x", product, sha256.Sum256(packages))[:len(product)+9])
	if err := write(dir); err != nil {
		return "", err
	}
	done := filepath.Join(dir, ".installed")
	if _, err := os.Stat(done); err == nil {
		return dir, nil
	}
	fmt.Fprintf(messages, "installing the peers: %v in %s\n", command, dir)
	install := exec.CommandContext(ctx, command[0], command[1:]...)
	install.Dir = dir
	if text, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s", command, err, text)
	}
	return dir, os.WriteFile(done, nil, 0o600)
}

func write(dir string) error {
	return fs.WalkDir(peers.Files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(path))
		if entry.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		data, err := peers.Files.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, data, 0o600)
	})
}
