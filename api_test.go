package sabir_test

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the exported declarations of all public packages to api/")

// TestTheAPIIsWhatTheGoldenFilesSay compares the exported declarations of each public package with its file in api/, so that
// a change of the API is seen in the diff of a commit. After a change that is meant, run
//
//	go test -run TestTheAPI -update .
func TestTheAPIIsWhatTheGoldenFilesSay(t *testing.T) {
	want := map[string]bool{}
	for _, dir := range publicPackages(t) {
		name := "sabir.txt"
		if dir != "." {
			name = strings.ReplaceAll(dir, "/", "-") + ".txt"
		}
		want[name] = true
		file, now := filepath.Join("api", name), exported(t, dir)
		if *update {
			if err := os.WriteFile(file, []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		golden, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("package %s is new: %v", dir, err)
			continue
		}
		for _, line := range missing(string(golden), now) {
			t.Errorf("%s is no longer exported:\n%s", dir, line)
		}
		for _, line := range missing(now, string(golden)) {
			t.Errorf("%s is not in %s:\n%s", dir, file, line)
		}
	}
	files, err := filepath.Glob("api/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		if want[filepath.Base(file)] {
			continue
		}
		if *update {
			os.Remove(file)
		} else {
			t.Errorf("%s is of no public package", file)
		}
	}
	if t.Failed() {
		t.Log("if this is meant: go test -run TestTheAPI -update .")
	}
}

// publicPackages are the directories that programs outside of this module can import.
func publicPackages(t *testing.T) []string {
	dirs := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file = filepath.ToSlash(file)
		switch name := entry.Name(); {
		case !entry.IsDir():
			if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
				dirs[path.Dir(file)] = true
			}
		case name == "testdata", name == "internal", file == "cmd", file == "docs", file == "examples", file == "lab", file != "." && strings.HasPrefix(name, "."):
			return filepath.SkipDir
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(dirs))
}

// exported prints the exported declarations of a package, without comments and bodies, in the order of their text.
func exported(t *testing.T, dir string) string {
	on := build.Default
	on.GOOS, on.GOARCH, on.CgoEnabled = "linux", "amd64", false // the files are the same wherever the test runs
	pkg, err := on.ImportDir(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	files := token.NewFileSet()
	for _, name := range pkg.GoFiles {
		file, err := parser.ParseFile(files, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.FileExports(file)
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				d.Body, d.Doc = nil, nil
				if d.Recv != nil {
					if !ast.IsExported(receiver(d.Recv.List[0].Type)) {
						continue
					}
					d.Recv.List[0].Names = nil // a matter of taste
				}
				texts = append(texts, printed(t, files, d))
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if d.Tok != token.IMPORT {
						texts = append(texts, d.Tok.String()+" "+printed(t, files, spec))
					}
				}
			}
		}
	}
	slices.Sort(texts)
	return "package " + pkg.Name + "\n" + strings.Join(texts, "")
}

// receiver is the name of a method's type.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

func printed(t *testing.T, files *token.FileSet, node any) string {
	var b bytes.Buffer
	if err := (&printer.Config{Mode: printer.UseSpaces, Tabwidth: 1}).Fprint(&b, files, node); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintln(strings.ReplaceAll(b.String(), "\n ", "\n\t"))
}

// missing are the lines of a that b has not.
func missing(a, b string) (lines []string) {
	has := map[string]int{}
	for line := range strings.Lines(b) {
		has[line]++
	}
	for line := range strings.Lines(a) {
		if has[line]--; has[line] < 0 {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
	}
	return lines
}
