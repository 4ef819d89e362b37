package isolation_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/sabir-go/sabir"

// A code path is a function of the product that writes, reads or checks values by a codec or by the rules of a type, where code
// of the value's type may run.
type codePath struct {
	// entry points are the rows of the table that go through it.
	entryPoints []string
	// fixed is the reason why no value of a user's type passes there.
	fixed string
}

// TestEachPlaceThatRunsTheCodeOfValuesHasItsEntryPoints finds all code paths and looks them up in [codePaths]. Where it fails for a new
// function, give the function's way a row in the table of entry points and name it in codePaths; or state there why the
// values are always Sabir's own.
func TestEachPlaceThatRunsTheCodeOfValuesHasItsEntryPoints(t *testing.T) {
	rows := map[string]bool{}
	for _, d := range table() {
		rows[d.name] = true
	}
	found := findCodePaths(t)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if _, listed := codePaths[name]; !listed {
			t.Errorf("%s calls %s, and is not in the list of code paths", name, found[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(codePaths)) {
		p := codePaths[name]
		if found[name] == "" {
			t.Errorf("%s is in the list of code paths, and calls no codec and no rules any more", name)
		}
		if (len(p.entryPoints) == 0) == (p.fixed == "") {
			t.Errorf("%s: want the names of its entry points, or why it has none", name)
		}
		for _, entryPoint := range p.entryPoints {
			if !rows[entryPoint] {
				t.Errorf("%s goes by the entry point %q, which is no row of the table", name, entryPoint)
			}
		}
	}
}

// findCodePaths finds all functions of the product that call what runs the code of values, each with one of the calls.
func findCodePaths(t *testing.T) map[string]string {
	c := &checker{files: token.NewFileSet(), dirs: map[string]*build.Package{}, checked: map[string]*types.Package{}, codePaths: map[string]string{}}
	if err := c.readProduct(); err != nil {
		t.Fatal(err)
	}
	if err := c.readStandard(); err != nil {
		t.Fatal(err)
	}
	for path := range c.dirs {
		if _, err := c.Import(path); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	return c.codePaths
}

// checker knows the types of the product from its source, those of the standard library from what the compiler made of it,
// and those of other libraries not at all: none of them is a place, and to compile them would take minutes.
type checker struct {
	files     *token.FileSet
	dirs      map[string]*build.Package // of the product, by import path
	standard  types.Importer
	checked   map[string]*types.Package
	codePaths map[string]string
}

// readProduct finds the packages and their files.
func (c *checker) readProduct() error {
	return filepath.WalkDir("../..", func(dir string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if name := entry.Name(); name == "testdata" || name == "lab" || name == "node_modules" || strings.HasPrefix(name, ".") && name != ".." {
			return filepath.SkipDir
		}
		p, err := build.ImportDir(dir, 0)
		if _, none := errors.AsType[*build.NoGoError](err); none {
			return nil
		}
		c.dirs[path.Join(module, strings.TrimPrefix(filepath.ToSlash(dir), "../.."))] = p
		return err
	})
}

// readStandard asks the compiler where the standard library's export data lies.
func (c *checker) readStandard() error {
	args := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}"}
	for _, p := range c.dirs {
		for _, path := range p.Imports {
			if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") && path != "C" && path != "unsafe" {
				args = append(args, path)
			}
		}
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		exports[path] = file
	}
	c.standard = importer.ForCompiler(c.files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return nil
}

// Import implements types.Importer.
func (c *checker) Import(importPath string) (*types.Package, error) {
	if known := c.checked[importPath]; known != nil {
		return known, nil
	}
	p := c.dirs[importPath]
	first, _, _ := strings.Cut(importPath, "/")
	switch {
	case p == nil && !strings.Contains(first, "."):
		return c.standard.Import(importPath)
	case p == nil:
		empty := types.NewPackage(importPath, path.Base(importPath))
		empty.MarkComplete()
		c.checked[importPath] = empty
		return empty, nil
	}
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, file)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: c, Error: func(error) {}} // errors of what is not known of other libraries
	made, _ := config.Check(importPath, c.files, parsed, info)
	c.checked[importPath] = made
	if isProduct(importPath) {
		c.findIn(importPath, parsed, info)
	}
	return made, nil
}

// findIn finds the places of a package.
func (c *checker) findIn(importPath string, parsed []*ast.File, info *types.Info) {
	for _, file := range parsed {
		for _, declared := range file.Decls {
			ast.Inspect(declared, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					if called := valueCode(info.Uses[id]); called != "" {
						c.codePaths[nameOf(importPath, declared)] = called
					}
				}
				return true
			})
		}
	}
}

// notProduct is the packages whose code runs in no user's process, and those that are codecs and rules themselves, whose own
// tests put them through the same faults.
var notProduct = []string{
	"examples", "lab", "docs", "codec", "validate", "internal/layout", "internal/document", "internal/native", "internal/protobuf", "internal/tag",
	"internal/conformance", "internal/faults", "internal/brokers", "internal/isolation",
}

func isProduct(importPath string) bool {
	dir := strings.TrimPrefix(strings.TrimPrefix(importPath, module), "/") + "/"
	return !strings.HasSuffix(importPath, "test") && !slices.ContainsFunc(notProduct, func(folder string) bool { return strings.HasPrefix(dir, folder+"/") })
}

// nameOf is the name of a declaration in the list of code paths: "internal/httpstream.hub.write", or "sabir.appendJSON" in the root.
func nameOf(importPath string, declared ast.Decl) string {
	name := strings.TrimPrefix(strings.TrimPrefix(importPath, path.Dir(module)+"/"), "sabir/")
	fn, ok := declared.(*ast.FuncDecl)
	if !ok {
		return name + " (variables)"
	}
	if fn.Recv != nil {
		of := fn.Recv.List[0].Type
		for done := false; !done; {
			switch t := of.(type) {
			case *ast.StarExpr:
				of = t.X
			case *ast.IndexExpr:
				of = t.X
			case *ast.IndexListExpr:
				of = t.X
			default:
				done = true
			}
		}
		name += "." + types.ExprString(of)
	}
	return name + "." + fn.Name.Name
}

// valueMethods are the functions and methods by which the code of values runs, by the package that has them.
var valueMethods = map[string][]string{
	"encoding/json":       {"Marshal", "MarshalIndent", "Unmarshal", "Encode", "Decode"},
	"encoding/gob":        {"Encode", "EncodeValue", "Decode", "DecodeValue"},
	"encoding/xml":        {"Marshal", "MarshalIndent", "Unmarshal", "Encode", "Decode"},
	module:                {"append", "decode", "appendJSON", "decodeJSON", "convertInto", "convertValue", "AppendInput", "DecodeOutput"},
	module + "/validate":  {"Check", "Struct"},
	module + "/codec/...": {"Append", "AppendJSON", "AppendValue", "Decode", "DecodeValue", "DecodeOwned", "DecodeAlias"},
}

// valueCode is the name of what runs the code of values; "" for anything else.
func valueCode(o types.Object) string {
	fn, ok := o.(*types.Func)
	if !ok || fn.Pkg() == nil {
		return ""
	}
	from := fn.Pkg().Path()
	switch from {
	case module + "/codec", module + "/internal/layout", module + "/internal/document", module + "/internal/native", module + "/internal/protobuf":
		from = module + "/codec/..."
	}
	if strings.HasPrefix(from, module+"/codec/") {
		from = module + "/codec/..."
	}
	if !slices.Contains(valueMethods[from], fn.Name()) {
		return ""
	}
	return fn.FullName()
}
