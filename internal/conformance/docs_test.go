package conformance_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/conformance"
)

var update = flag.Bool("update", false, "write docs/conformance.md anew")

const page = "../../docs/conformance.md"

const head = `# Conformance

What holds for the nodes of a cluster whatever carries their links. Package conformance proves each line over mem, tcp, unix
and tls, over tcp with a cluster key, with two connections to each node and with everything compressed:
` + "`go test ./internal/conformance`" + `. A new transport is ready when it passes too.

This page is written by ` + "`go test ./internal/conformance -run Docs -update`" + `, and a test holds it against the suite.
`

func TestTheDocsListEveryBehaviour(t *testing.T) {
	var b strings.Builder
	b.WriteString(head)
	seen := make(map[string]bool)
	for _, part := range conformance.Behaviours() {
		b.WriteString("\n## " + part.Subject + "\n\n")
		for _, name := range part.Behaviours {
			b.WriteString("- " + name + "\n")
			if seen[name] {
				t.Errorf("two behaviours are called %q", name)
			}
			seen[name] = true
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != b.String() {
		t.Errorf("%s is not what the suite proves: run go test ./internal/conformance -run Docs -update", page)
	}
}
