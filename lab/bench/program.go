package bench

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Program is something that rows start. It is built or installed once, before what needs it is measured; where that cannot be
// done, its rows stay in their tables with the reason.
type Program struct {
	Name     string // for progress, and for errors
	Language string // "Go", "Node", "Java"; "" for a tool of the machine

	prepare  func(ctx context.Context, p *Program, messages io.Writer) error
	once     sync.Once
	err      error
	command  []string
	dir      string
	env      []string
	versions func(module string) string
}

// Prepare makes the program ready to start; the first call does, and says to messages what it does.
func (p *Program) Prepare(ctx context.Context, messages io.Writer) error {
	p.once.Do(func() {
		if err := p.prepare(ctx, p, messages); err != nil {
			p.err = fmt.Errorf("%s: %w", p.Name, err)
		}
	})
	return p.err
}

// Version is the version of a module or package that the program was made with, or "". Call it after Prepare.
func (p *Program) Version(module string) string {
	if p.versions == nil || module == "" {
		return ""
	}
	return p.versions(module)
}

// buildTags are the tags with which every program in Go is built. The only one makes programs smaller that link the
// package validator.
const buildTags = "validator_novalidatefn"

// Go is a program of the lab, by its folder: "rpc", "http/servers/sabir".
func Go(folder string) *Program {
	return &Program{Name: "go build ./" + folder, Language: "Go", prepare: func(ctx context.Context, p *Program, messages io.Writer) error {
		root, err := moduleRoot()
		if err != nil {
			return err
		}
		cache, err := cacheDir("go")
		if err != nil {
			return err
		}
		binary := filepath.Join(cache, strings.ReplaceAll(folder, "/", "-"))
		fmt.Fprintf(messages, "building %s\n", folder)
		build := exec.CommandContext(ctx, "go", "build", "-tags="+buildTags, "-ldflags=-s -w", "-o", binary, "./"+folder)
		build.Dir = root
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // as for containers
		if text, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("it cannot be built: %w: %s", err, lastOf(string(text)))
		}
		p.command = []string{binary}
		p.versions = func(module string) string { return goVersion(binary, module) }
		return nil
	}}
}

func goVersion(binary, module string) string {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return ""
	}
	for _, d := range info.Deps {
		if d.Path == module {
			return strings.TrimPrefix(d.Version, "v")
		}
	}
	return ""
}

// Node is a program of Node in a folder below peers, whose packages "npm ci" installs from its lock file.
func Node(folder, file string, arguments ...string) *Program {
	return &Program{Name: "node " + folder + "/" + file, Language: "Node", prepare: func(ctx context.Context, p *Program, messages io.Writer) error {
		for _, tool := range []string{"node", "npm"} {
			if _, err := exec.LookPath(tool); err != nil {
				return fmt.Errorf("%s is not here: install Node 20 or later, with npm", tool)
			}
		}
		dir, err := installed(ctx, folder, messages, "npm", "ci", "--no-audit", "--no-fund", "--loglevel=error")
		if err != nil {
			return err
		}
		p.command, p.dir, p.env = append([]string{"node"}, append(arguments, file)...), dir, []string{"NODE_ENV=production"}
		p.versions = func(module string) string { return nodeVersion(dir, module) }
		return nil
	}}
}

func nodeVersion(dir, module string) string {
	data, err := os.ReadFile(filepath.Join(dir, "node_modules", module, "package.json"))
	if err != nil {
		return ""
	}
	var doc struct{ Version string }
	if json.Unmarshal(data, &doc) != nil {
		return ""
	}
	return doc.Version
}

// Java is a program of Java, one source file, in a folder below peers whose pom.xml lists its libraries; Maven fetches them.
// arguments are the virtual machine's.
func Java(folder, file string, arguments ...string) *Program {
	return &Program{Name: "java " + folder + "/" + file, Language: "Java", prepare: func(ctx context.Context, p *Program, messages io.Writer) error {
		for _, tool := range []string{"java", "javac", "mvn"} {
			if _, err := exec.LookPath(tool); err != nil {
				return fmt.Errorf("%s is not here: install a JDK, 17 or later, and Maven", tool)
			}
		}
		dir, err := installed(ctx, folder, messages, "mvn", "-q", "-B", "--strict-checksums", "dependency:copy-dependencies", "-DoutputDirectory=lib")
		if err != nil {
			return err
		}
		compile := exec.CommandContext(ctx, "javac", "-cp", "lib/*", "-d", "classes", file)
		compile.Dir = dir
		if text, err := compile.CombinedOutput(); err != nil {
			return fmt.Errorf("javac: %w: %s", err, lastOf(string(text)))
		}
		class := strings.TrimSuffix(filepath.Base(file), ".java")
		p.command = append(append([]string{"java"}, arguments...), "-cp", "classes"+string(os.PathListSeparator)+"lib/*", class)
		p.dir = dir
		p.versions = func(module string) string { return jarVersion(dir, module) }
		return nil
	}}
}

func jarVersion(dir, artifact string) string {
	jars, err := filepath.Glob(filepath.Join(dir, "lib", artifact+"-[0-9]*.jar"))
	if err != nil || len(jars) == 0 {
		return ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(jars[0]), artifact+"-"), ".jar")
}

// Tool is a program that must be installed on the machine; advice says how.
func Tool(name, advice string, arguments ...string) *Program {
	return &Program{Name: name, prepare: func(context.Context, *Program, io.Writer) error {
		_, err := exec.LookPath(name)
		if err != nil {
			return fmt.Errorf("it is not here: %s", advice)
		}
		return nil
	}, command: append([]string{name}, arguments...)}
}

// Command returns the command line of the program, the folder it starts in ("" is this one), and the variables to add to its
// environment. Call it after Prepare.
func (p *Program) Command() (line []string, dir string, env []string) { return p.command, p.dir, p.env }

// installed is a folder of the user's cache with the files of a folder below peers, and what the command put there at the first
// run. It is named after what is in those files, so that another list of packages gets another folder.
func installed(ctx context.Context, folder string, messages io.Writer, command ...string) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	from := os.DirFS(filepath.Join(root, "peers", folder))
	name, err := hashOf(from)
	if err != nil {
		return "", err
	}
	cache, err := cacheDir("")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, strings.ReplaceAll(folder, "/", "-")+"-"+name)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	building, err := os.MkdirTemp(cache, "building-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(building)
	if err := os.CopyFS(building, from); err != nil {
		return "", err
	}
	fmt.Fprintf(messages, "installing what %s needs: %s\n", folder, strings.Join(command, " "))
	install := exec.CommandContext(ctx, command[0], command[1:]...)
	install.Dir = building
	if text, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %s. Is the network there?", strings.Join(command, " "), err, lastOf(string(text)))
	}
	err = os.Rename(building, dir)
	if _, there := os.Stat(dir); there == nil {
		return dir, nil // also where another process was faster
	}
	return dir, err
}

func hashOf(files fs.FS) (string, error) {
	hash := sha256.New()
	err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if entry.Name() == "node_modules" {
				return errors.New("peers is for sources only: remove node_modules from it")
			}
			return nil
		}
		data, err := fs.ReadFile(files, path)
		fmt.Fprintf(hash, "%s %d\n%s", path, len(data), data)
		return err
	})
	return fmt.Sprintf("%x", hash.Sum(nil)[:6]), err
}

func cacheDir(name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "sabir-lab", name)
	return dir, os.MkdirAll(dir, 0o755)
}

// moduleRoot is the lab's folder. The lab is run from inside of it: its programs are built there.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		data, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil && strings.HasPrefix(string(data), "module github.com/sabir-go/sabir/lab\n") {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s is not inside the lab's folder: go run -C lab . run", dir)
		}
	}
}

// lastOf makes the end of a program's output fit into a note below a table.
func lastOf(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	const most = 400
	if len(text) > most {
		return "… " + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return text
}
