package sabir_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// layers is the order of the rooms: a package may import rooms of lower layers and its own room, nothing else of the
// project. A new room must be added here before it can import or be imported.
var layers = map[string]int{
	"codec": 0, "transport": 0, "validate": 0, "brokers": 0,
	"wire": 1, "cluster": 1, "channel": 1, "schema": 1,
	".":      2,
	"policy": 3, "telemetry": 3, "actor": 3, "bridge": 3,
	"web": 4,
	"cmd": 5, "examples": 5, "conformance": 5,
}

const module = "github.com/sabir-go/sabir"

// room is the top folder of a package.
func room(dir string) string {
	first, _, _ := strings.Cut(filepath.ToSlash(dir), "/")
	return first
}

func TestImportsPointDownTheLayers(t *testing.T) {
	checked := 0
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "lab" || entry.Name() != "." && strings.HasPrefix(entry.Name(), ".")) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		from := room(path.Dir(filepath.ToSlash(file)))
		if _, known := layers[from]; !known {
			t.Errorf("%s: the room %s is not in the list of layers", file, from)
		}
		for _, spec := range parsed.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			dir, ours := strings.CutPrefix(imported, module)
			if !ours {
				continue
			}
			checked++
			to := "."
			if dir != "" {
				to = room(strings.TrimPrefix(dir, "/"))
			}
			if to != from && layers[to] >= layers[from] {
				t.Errorf("%s imports %s: %s is not below %s", file, imported, to, from)
			}
		}
		for _, banned := range []string{"util", "utils", "common", "helper", "helpers", "manager", "base", "internal"} {
			if path.Base(path.Dir(filepath.ToSlash(file))) == banned {
				t.Errorf("%s: no package is called %s", file, banned)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 5 {
		t.Fatalf("only %d imports found: the test looks in the wrong place", checked)
	}
}
