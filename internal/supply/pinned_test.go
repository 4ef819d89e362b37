// Package supply holds what the project takes from others, and what it gives out, to exact versions and checksums.
package supply

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// files returns the paths of the project's files whose name matches, from the top of the checkout on.
func files(t *testing.T, pattern string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if matched, _ := filepath.Match(pattern, entry.Name()); matched && !entry.IsDir() {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Errorf("no file is called %s: the test looks in the wrong place", pattern)
	}
	return paths
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A tag can be moved to other code, a commit cannot.
func TestWorkflowsUseActionsByTheirCommit(t *testing.T) {
	uses := regexp.MustCompile(`(?m)uses:\s*(\S+)(.*)$`)
	pinned := regexp.MustCompile(`^[\w.-]+(?:/[\w.-]+)+@[0-9a-f]{40}$`)
	for _, path := range files(t, "*.yml") {
		for _, use := range uses.FindAllStringSubmatch(read(t, path), -1) {
			if !pinned.MatchString(use[1]) || !strings.HasPrefix(strings.TrimSpace(use[2]), "# v") {
				t.Errorf("%s uses %s: name the commit, with its version in a comment behind it", path, use[1])
			}
		}
	}
}

func TestToolsAreRunInAnExactVersion(t *testing.T) {
	tool := regexp.MustCompile(`(?:go run|=)\s*"?([\w.-]+\.[a-z]+/[\w./-]+@[\w.-]+)`)
	exact := regexp.MustCompile(`@v\d+\.\d+\.\d+$`)
	found := 0
	for _, path := range append(files(t, "*.yml"), "../../test", "../../release") {
		for _, match := range tool.FindAllStringSubmatch(read(t, path), -1) {
			found++
			if !exact.MatchString(match[1]) {
				t.Errorf("%s runs %s", path, match[1])
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d tools were found", found)
	}
}

func TestEachGoModuleHasChecksumsAndNobodySwitchesThemOff(t *testing.T) {
	for _, path := range files(t, "go.mod") {
		if strings.Contains(read(t, path), "require") {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), "go.sum")); err != nil {
				t.Error(err)
			}
		}
	}
	for _, path := range append(files(t, "*.yml"), "../../test", "../../release") {
		for _, name := range []string{"GONOSUMDB", "GONOSUMCHECK", "GOSUMDB", "GOFLAGS=-insecure", "GOINSECURE", "GOPRIVATE"} {
			if strings.Contains(read(t, path), name) {
				t.Errorf("%s sets %s", path, name)
			}
		}
	}
}

func TestPackagesOfNodeHaveALockFileWithChecksums(t *testing.T) {
	workspaces := map[string]bool{}
	for _, path := range files(t, "package-lock.json") {
		var lock struct {
			LockfileVersion int `json:"lockfileVersion"`
			Packages        map[string]struct {
				Integrity string `json:"integrity"`
				Link      bool   `json:"link"`
			} `json:"packages"`
		}
		if err := json.Unmarshal([]byte(read(t, path)), &lock); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if lock.LockfileVersion < 3 {
			t.Errorf("%s is of version %d", path, lock.LockfileVersion)
		}
		for name, p := range lock.Packages {
			switch {
			case !strings.Contains(name, "node_modules"): // the package itself, or a folder beside it
				workspaces[filepath.Join(filepath.Dir(path), name)] = true
			case p.Integrity == "" && !p.Link:
				t.Errorf("%s: %s has no checksum", path, name)
			}
		}
	}
	for _, path := range files(t, "package.json") {
		if !workspaces[filepath.Dir(path)] {
			t.Errorf("%s is in no lock file", path)
		}
	}
}

// npm install would take other versions than those of the lock file.
func TestNodeAndMavenCheckWhatTheyFetch(t *testing.T) {
	calls := regexp.MustCompile(`"(npm|mvn)"((?:, "[^"]*")*)\)?`)
	for _, path := range files(t, "*.go") {
		if strings.Contains(path, "internal/supply") {
			continue
		}
		for _, call := range calls.FindAllStringSubmatch(read(t, path), -1) {
			switch arguments := call[2]; {
			case call[1] == "npm" && strings.HasPrefix(arguments, `, "install"`), call[1] == "npm" && strings.HasPrefix(arguments, `, "i"`):
				t.Errorf("%s: %s: want npm ci", path, call[0])
			case call[1] == "mvn" && strings.Contains(arguments, `"-`) && !strings.Contains(arguments, `"--strict-checksums"`):
				t.Errorf("%s: %s: want --strict-checksums", path, call[0])
			}
		}
	}
	version := regexp.MustCompile(`<version>([^<]*)</version>`)
	for _, path := range files(t, "pom.xml") {
		for _, v := range version.FindAllStringSubmatch(read(t, path), -1) {
			if !regexp.MustCompile(`^\d+(\.\d+)*$`).MatchString(v[1]) {
				t.Errorf("%s has the version %s", path, v[1])
			}
		}
	}
}

// CI makes a dry run of a whole release; here are the mistakes that end one.
func TestAReleaseNeedsAVersionThatTheProjectHas(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	for _, version := range []string{"", "1.2.3", "v1.2", "v1.2.3-dev", "v99.0.0"} {
		command := exec.Command("bash", "../../release", version)
		command.Env = append(os.Environ(), "DIST="+t.TempDir()+"/dist")
		if output, err := command.CombinedOutput(); err == nil || !strings.Contains(string(output), "release: ") {
			t.Errorf("%q: %v\n%s", version, err, output)
		}
	}
}
