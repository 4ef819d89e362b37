package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Words and turns that a reader stumbles over, and what to write instead.
var unwanted = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\bis told\b|\bare told\b|\bwas told\b`), "reports, learns, receives"},
	{regexp.MustCompile(`(?i)\bthe word of\b|\btake[sn]? .{0,20}\bword for\b`), "trusts"},
	{regexp.MustCompile(`(?i)\b(is|are|was|were) given up\b`), "is dead-lettered, is abandoned after 10 attempts"},
	{regexp.MustCompile(`(?i)\b(is|are) away\b`), "is unreachable, is on another node"},
	{regexp.MustCompile(`(?i)\bone's own\b`), "your own"},
	{regexp.MustCompile(`(?i)\bharms nobody\b|\bharm nobody\b`), "does not reach the caller"},
	{regexp.MustCompile("(?i)(``|[0-9]( m?s| [KM]iB)?|'s|\") without it\\b"), "Default: 30 s"},
	{regexp.MustCompile(`(?i)\bmust not be told\b|\bcallers who show nothing\b|\bwho must know\b`), "a caller that"},
	{regexp.MustCompile(`(?i)\bcrews?\b|\blanes?\b`), "workers, queue"},
	{regexp.MustCompile(`(?i)\bwhere a node is asked for\b|\bneed nothing: while\b|\bit does not pass on\b`), "the API's name as the subject"},
	{regexp.MustCompile(`(?i)\bneither of its own\b|\bas far as one\b|\bto one another's\b`), "a plain sentence"},
}

func TestThePagesAreInPlainWords(t *testing.T) {
	for _, page := range pages(t) {
		text := inCode.ReplaceAllString(fenced.ReplaceAllString(readFile(t, page), ""), "``")
		var found []string
		for _, u := range unwanted {
			for _, m := range u.pattern.FindAllString(text, -1) {
				found = append(found, m+" → "+u.instead)
			}
		}
		if len(found) > 0 {
			t.Errorf("%s has %d places to write plainly:\n\t%s", page, len(found), strings.Join(found, "\n\t"))
		}
	}
}

func TestDocCommentsAreInPlainWords(t *testing.T) {
	var found []string
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch d.Name() {
			case ".git", "internal", "lab", "testdata", "cmd", "examples", "docs":
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, comment := range docComments(file) {
			for _, u := range unwanted {
				for _, m := range u.pattern.FindAllString(comment, -1) {
					found = append(found, path+": "+m+" → "+u.instead)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) > 0 {
		t.Errorf("doc comments have %d places to write plainly:\n\t%s", len(found), strings.Join(found, "\n\t"))
	}
}

// itsForm is a comment that says of a name what it "is": a reader who does not know the name learns nothing from it.
var itsForm = regexp.MustCompile(`(?m)^\s*// \w+ (is|are) what `)

func TestNoCommentDefinesANameAsWhatItIs(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "lab" || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range itsForm.FindAllString(string(text), -1) {
			t.Errorf("%s: %q: say what it does or holds, and why", path, strings.TrimSpace(m))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// docComments lists the comments that go doc shows: of the package and of exported declarations.
func docComments(file *ast.File) (comments []string) {
	add := func(group *ast.CommentGroup) {
		if group != nil {
			comments = append(comments, group.Text())
		}
	}
	add(file.Doc)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() {
				add(d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.IsExported() {
						add(d.Doc)
						add(spec.Doc)
						ast.Inspect(spec.Type, func(n ast.Node) bool {
							if f, ok := n.(*ast.Field); ok {
								add(f.Doc)
							}
							return true
						})
					}
				case *ast.ValueSpec:
					add(d.Doc)
					add(spec.Doc)
				}
			}
		}
	}
	return comments
}
