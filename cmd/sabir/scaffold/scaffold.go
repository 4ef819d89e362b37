// Package scaffold writes the files of a new service: a module of its own that builds and passes its test.
package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"golang.org/x/mod/module"
)

//go:embed templates
var files embed.FS

var templates = template.Must(template.New("").ParseFS(files, "templates/*.tmpl", "templates/deploy/*.tmpl"))

// Plan describes the project to write.
type Plan struct {
	Name   string // of the service
	Module string // path of the module; Name if empty
	Dir    string // where to; must not exist or be empty. Name if empty
	Sabir  Source // where the module finds Sabir
	Deploy bool   // with what it takes to run it elsewhere
}

// Result lists the files that were written.
type Result struct {
	Dir    string   `json:"dir"` // absolute
	Module string   `json:"module"`
	Files  []string `json:"files"` // within Dir
}

var (
	goodName   = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	isVersion  = regexp.MustCompile(`^v[0-9]+$`)
	goodModule = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.~-]*(/[A-Za-z0-9_][A-Za-z0-9_.~-]*)*$`)
)

// reserved are paths that the go command takes for something other than a module's: sets of packages, and itself.
var reserved = []string{"all", "cmd", "go", "std", "tool", "toolchain", "work"}

// CheckName returns what is wrong with a service's name, or nil. It becomes the name of files and of a module, so it is
// narrower than what the runtime takes.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case len(name) > 40:
		return fmt.Errorf("the name %.50q is longer than 40 characters", name)
	case !goodName.MatchString(name):
		return fmt.Errorf("the name %q is not made of lower-case letters, digits and single hyphens, beginning with a letter, such as greeter", name)
	case name == "main" || isVersion.MatchString(name):
		return fmt.Errorf("a service cannot be called %q, which means something else already", name)
	case module.CheckFilePath(name+".go") != nil:
		return fmt.Errorf("a service cannot be called %q: Windows has a device of that name and takes no file %s.go, so the module could not be checked out there", name, name)
	}
	return nil
}

// CheckModule returns what is wrong with a module's path, or nil. standard reports which paths are of Go's library.
func CheckModule(path string, standard func(string) bool) error {
	switch {
	case len(path) > 200 || !goodModule.MatchString(path) || strings.Contains(path, ".."):
		return fmt.Errorf("%.200q is no path of a module, such as example.com/greeter", path)
	case path == sabirModule || strings.HasPrefix(path, sabirModule+"/"):
		return fmt.Errorf("the module %s is Sabir's own", path)
	case slices.Contains(reserved, path):
		return fmt.Errorf("the go command takes %s for something else: give the module another path, such as --module example.com/%s", path, path)
	case standard(path):
		return fmt.Errorf("%s is a package of Go's library: give the module another path, such as --module example.com/%s", path, path)
	}
	// A path without a dot in its first element cannot be downloaded, which one that begins on this machine need not be.
	check := module.CheckImportPath
	if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
		check = module.CheckPath
	}
	if err := check(path); err != nil {
		return fmt.Errorf("the go command refuses that path of a module: %w", err)
	}
	return nil
}

// Write writes the files, all or none. It overwrites nothing: where the directory has something in it already, it writes nothing.
// Name and Module must have been checked.
func Write(p Plan) (Result, error) {
	dir, err := filepath.Abs(p.Dir)
	if err != nil {
		return Result{}, err
	}
	if err := checkEmpty(dir); err != nil {
		return Result{}, err
	}
	contents, err := p.render()
	if err != nil {
		return Result{}, err
	}
	result := Result{Dir: dir, Module: p.Module}
	for _, file := range contents {
		if err := create(filepath.Join(dir, filepath.FromSlash(file.name)), file.text); err != nil {
			withdraw(dir, append(result.Files, path.Dir(file.name)))
			return Result{}, err
		}
		result.Files = append(result.Files, file.name)
	}
	return result, nil
}

// withdraw removes files of a service that cannot be written whole, such as on a disk that is full, with the folders that they leave empty:
// the next try would be refused for them.
func withdraw(dir string, names []string) {
	for _, name := range slices.Backward(names) {
		for ; name != "."; name = path.Dir(name) {
			os.Remove(filepath.Join(dir, filepath.FromSlash(name))) // of a folder with something in it, it removes nothing
		}
	}
}

func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("cannot write into %s: %w", dir, err)
	case len(entries) > 0:
		return fmt.Errorf("%s is not empty (it has %s), and nothing is overwritten: choose another place with --dir", dir, entries[0].Name())
	}
	return nil
}

// create writes a file that is not there yet, and leaves nothing of one that cannot be written.
func create(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(name)
	}
	return err
}

type content struct {
	name string
	text []byte
}

// file is one to write, and the template that it is made of.
type file struct{ name, template string }

// deployment lists what --deploy writes besides.
func (p Plan) deployment() []file {
	if !p.Deploy {
		return nil
	}
	return []file{
		{"Dockerfile", "Dockerfile.tmpl"},
		{".dockerignore", "dockerignore.tmpl"},
		{"compose.yaml", "compose.yaml.tmpl"},
		{"deploy/kubernetes/kustomization.yaml", "kustomization.yaml.tmpl"},
		{"deploy/kubernetes/deployment.yaml", "deployment.yaml.tmpl"},
		{"deploy/kubernetes/services.yaml", "services.yaml.tmpl"},
		{"deploy/kubernetes/network.yaml", "network.yaml.tmpl"},
		{"deploy/kubernetes/autoscaler.yaml", "autoscaler.yaml.tmpl"},
		{"deploy/systemd/" + p.Name + ".service", "systemd.service.tmpl"},
	}
}

// render makes all files before the first is written.
func (p Plan) render() ([]content, error) {
	list := []content{{name: "go.mod", text: p.Sabir.goMod(p.Module)}}
	if p.Sabir.sums != nil {
		list = append(list, content{"go.sum", p.Sabir.sums})
	}
	for _, file := range append(p.deployment(), []file{
		{"main.go", "main.go.tmpl"},
		{p.Name + ".go", "service.go.tmpl"},
		{p.Name + "_test.go", "service_test.go.tmpl"},
		{"testdata/items.http", "items.http.tmpl"},
		{"README.md", "README.md.tmpl"},
	}...) {
		var text bytes.Buffer
		if err := templates.ExecuteTemplate(&text, file.template, p); err != nil {
			return nil, err
		}
		list = append(list, content{file.name, text.Bytes()})
	}
	return list, nil
}
