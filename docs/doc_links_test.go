package docs

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docLink is a name in brackets, as a link of a doc comment has it. Where go doc finds what it names, it prints the name without them.
var docLink = regexp.MustCompile(`(?:^|[\s(])\[\*?[A-Z]\w*(?:\.[A-Z]\w*)?\]`)

func TestEveryLinkOfTheDocCommentsLeadsSomewhere(t *testing.T) {
	lines := 0
	err := filepath.WalkDir("..", func(folder string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); name == "testdata" || name == "lab" || name != ".." && strings.HasPrefix(name, ".") {
			return fs.SkipDir
		}
		fset, files, comments := token.NewFileSet(), []*ast.File{}, []string{}
		paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			return err
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			if len(files) == 0 || files[0].Name.Name == file.Name.Name { // a folder may have a program of go:build ignore too
				files, comments = append(files, file), append(comments, docComments(file)...)
			}
		}
		if len(files) == 0 {
			return nil
		}
		p, err := doc.NewFromFiles(fset, files, folder)
		if err != nil {
			return err
		}
		parse, printer := p.Parser(), p.Printer()
		for _, text := range comments {
			for line := range strings.Lines(string(printer.Text(parse.Parse(text)))) {
				if strings.HasPrefix(line, "\t") { // code
					continue
				}
				lines++
				for _, link := range docLink.FindAllString(line, -1) {
					t.Errorf("%s: a doc comment links to%s, which is not there: %s", folder, link, line)
				}
			}
		}
		return nil
	})
	if err != nil || lines < 1000 {
		t.Errorf("%d lines of doc comments were read: %v", lines, err)
	}
}
