package supply

import (
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

// Both register themselves at the default mux of net/http when they are imported, and show memory and command lines.
func TestNothingServesTheProfiler(t *testing.T) {
	for _, path := range files(t, "*.go") {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/lab/") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			continue // testdata
		}
		for _, spec := range parsed.Imports {
			if imported, _ := strconv.Unquote(spec.Path.Value); imported == "net/http/pprof" || imported == "expvar" {
				t.Errorf("%s imports %s", path, imported)
			}
		}
	}
}
