package docs

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var update = flag.Bool("update", false, "write processes-rules.md anew")

const rulesHead = `# The rules of processes

What holds for processes, supervisors, applications and what belongs to them. Each line is the name of a test that shows it. The
rules are those of Erlang/OTP; where one differs, the comment of its package says so. ` + "`go test ./actor/...`" + ` runs them all,
and no goroutine may be left over. [processes.md](processes.md) is the guide.

This page is written by ` + "`go test ./docs -run Rule -update`" + `, and a test holds it against the code.

## What nil means

An error that is nil confirms this and no more:

| function | nil means |
|---|---|
| ` + "`Tell`, `Send`, `SendPriority`, `SendAfter`, `Redeliver`, `Forward`" + ` | nothing is known to be wrong, and a process of this node has a handler; the message may still be lost |
| ` + "`SendConfirmed`" + ` | the process has a handler, and the message was put into the mailbox. With ` + "`DropOldest`" + ` later messages may push it out; a process that ends takes it along; a pool that has it may find no room at its workers |
| ` + "`SendGroup`" + ` | each node with members was sent the message; members with a full mailbox lose it |
| ` + "`Ask`, `Call`" + ` | the handler has answered, and nothing was lost |
| ` + "`Publish`" + ` of a topic | the topic has the value and hands it out; subscribers with a full mailbox lose it |
| ` + "`Spawn`" + `, also on another node | Init has returned nil; a link or monitor that was asked for stands |
| ` + "`Link`" + ` | the process is there, and the link stands; of one on another node: the link stands on this side, and an Exit tells if there is no such process |
| ` + "`Monitor`" + ` | it has no error: a Down tells all |
| ` + "`Subscribe`, `SubscribeMonitored`" + ` | the subscription stands; of a topic on another node: it was asked for, and an Exit or Down tells if there is no such topic |
| ` + "`Stop`, `Kill`" + ` | the process was asked; of one on another node: the order was sent |
| ` + "`Register`, `NewAlias`" + ` | the address is found from now on |
| ` + "`grain.Call`" + ` | the handler has answered; what it saved is kept by the store |
| ` + "`grain.SendConfirmed`" + ` | the message was put into the mailbox of the grain's activation |
`

// theRooms is the packages about processes, in the order of the page.
var theRooms = []string{"actor", "actor/supervise", "actor/app", "actor/pool", "actor/cron", "actor/meta", "actor/actortest", "actor/grain"}

// source has the declarations of a package's files.
type source struct {
	tests map[string][]string // by file, in their order
	names []string            // exported ones of more than one word, the longest first
}

func readSource(t *testing.T, folder string) source {
	t.Helper()
	s := source{tests: map[string][]string{}}
	files, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(path, "_test.go") {
			s.names = append(s.names, exported(file)...)
			continue
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" {
				s.tests[filepath.Base(path)] = append(s.tests[filepath.Base(path)], f.Name.Name)
			}
		}
	}
	slices.SortFunc(s.names, func(a, b string) int { return len(b) - len(a) })
	return s
}

// exported is the functions, types and values of a file that a sentence should not take apart.
func exported(file *ast.File) (names []string) {
	add := func(name string) {
		if ast.IsExported(name) && strings.ContainsFunc(name[1:], unicode.IsUpper) && len(name) > 4 {
			names = append(names, name)
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(d.Name.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						add(name.Name)
					}
				}
			}
		}
	}
	return names
}

var acronyms = []string{"PIDs", "PID", "JSON", "HTTP", "TCP", "UDP", "TLS", "OTP", "ID"}

// sentence makes words of a test's name, and leaves what is a name in the code as it is.
func sentence(test string, names []string) string {
	rest := strings.TrimPrefix(test, "Test")
	var words []string
	for rest != "" {
		word := firstOf(rest, names)
		if word == "" {
			word = firstOf(rest, acronyms)
		}
		if word == "" {
			word = strings.ToLower(plainWord(rest))
		}
		words, rest = append(words, word), rest[len(word):]
	}
	return strings.Join(words, " ")
}

// firstOf returns the word with which a text begins; "" for none.
func firstOf(text string, words []string) string {
	for _, word := range words {
		if after, ok := strings.CutPrefix(text, word); ok && (after == "" || !unicode.IsLower(rune(after[0]))) {
			return word
		}
	}
	return ""
}

var plain = regexp.MustCompile(`^(?:[A-Z]?[a-z]+|[0-9]+|.)`)

func plainWord(text string) string { return plain.FindString(text) }

func TestTheRulesPageListsEveryRule(t *testing.T) {
	var b strings.Builder
	b.WriteString(rulesHead)
	for _, room := range theRooms {
		s := readSource(t, room)
		if len(s.tests) == 0 {
			continue
		}
		b.WriteString("\n## Package " + room + "\n")
		for _, file := range slices.Sorted(maps.Keys(s.tests)) {
			b.WriteString("\n[" + file + "](../" + room + "/" + file + ")\n\n")
			for _, test := range s.tests[file] {
				b.WriteString("- " + sentence(test, s.names) + "\n")
			}
		}
	}
	const page = "processes-rules.md"
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
		t.Errorf("docs/%s does not list the tests that there are: run go test ./docs -run Rule -update. It lacks:\n%s\nand has too much:\n%s",
			page, without(b.String(), string(text)), without(string(text), b.String()))
	}
}

// without is the lines of a text that another does not have.
func without(text, other string) string {
	var only []string
	for line := range strings.Lines(text) {
		if !strings.Contains(other, line) {
			only = append(only, line)
		}
	}
	return strings.Join(only, "")
}

func TestASentenceKeepsNamesAndTakesTheRestApart(t *testing.T) {
	for test, want := range map[string]string{
		"TestAFullMailboxDoesWhatItsRuleSays": "a full mailbox does what its rule says",
		"TestAPIDIsNeverUsedAgain":            "a PID is never used again",
		"TestANameHas1To255Bytes":             "a name has 1 to 255 bytes",
		"TestStartChildRefusesAnIDThatIs":     "StartChild refuses an ID that is",
	} {
		if got := sentence(test, []string{"StartChild", "StartChi"}); got != want {
			t.Errorf("%s became %q, want %q", test, got, want)
		}
	}
}

// evidence is the pages that name tests. Guides link to them: whoever reads a guide wants to know what holds, not where it is shown.
var evidence = []string{"docs/tests.md", "docs/faults.md", "docs/security.md", "docs/bridges.md"}

func TestOnlyThePagesOfEvidenceNameTestsAndThoseAreThere(t *testing.T) {
	there := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == ".git" || path == "../lab") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, match := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
			there[string(match[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named, count := regexp.MustCompile(`\b(Test[A-Z]\w{9,})\b`), 0
	for _, page := range pages(t) {
		text := fenced.ReplaceAllString(readFile(t, page), "")
		if strings.HasPrefix(page, "docs/reference/") { // made by the tests that they name
			continue
		}
		for _, match := range named.FindAllStringSubmatch(text, -1) {
			count++
			switch {
			case !slices.Contains(evidence, page):
				t.Errorf("%s names %s: name it in docs/tests.md, and link there", page, match[1])
			case !there[match[1]]:
				t.Errorf("%s: there is no %s", page, match[1])
			}
		}
	}
	if count < 100 {
		t.Errorf("the pages name %d tests", count)
	}
}
