package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

func TestEveryCommandTeachesItsUse(t *testing.T) {
	c := &cli{}
	for _, command := range c.root().Commands() {
		if command.Name() == "help" {
			continue
		}
		t.Run(command.Name(), func(t *testing.T) {
			if command.Short == "" || command.Long == "" || strings.HasSuffix(command.Short, ".") {
				t.Errorf("short %q, long %q", command.Short, command.Long)
			}
			if n := strings.Count(command.Example, "sabir "+command.Name()); n < 2 {
				t.Errorf("%d examples of sabir %s, want 2 or more:\n%s", n, command.Name(), command.Example)
			}
			if command.GroupID == "" {
				t.Error("the command is in no group of the help")
			}
		})
	}
}

func TestEveryExampleIsACommandLineThatCanBeRead(t *testing.T) {
	root := (&cli{}).root()
	check := func(command *cobra.Command) {
		for line := range strings.Lines(command.Example) {
			_, words, found := strings.Cut(line, "sabir ")
			if !found || strings.Contains(line, "'") || strings.Contains(line, "completion") {
				continue // quoting is the shell's
			}
			words, _, _ = strings.Cut(words, "#")
			words, _, _ = strings.Cut(words, "&&")
			words, _, _ = strings.Cut(words, "|")
			target, rest, err := root.Find(strings.Fields(words))
			if err == nil {
				err = target.ParseFlags(rest)
			}
			if err == nil && target.Args != nil {
				err = target.Args(target, target.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: %v", strings.TrimSpace(line), err)
			}
		}
	}
	check(root)
	for _, command := range root.Commands() {
		check(command)
	}
}

func TestWithoutACommandTheHelpIsShown(t *testing.T) {
	got := sabirRun(t)
	if got.code != exitOK || !strings.Contains(got.out, "sabir demo") || got.errOut != "" {
		t.Errorf("%+v", got)
	}
}

func TestOutputThatIsNotWrittenFails(t *testing.T) {
	startDemo(t)
	reader, full, err := os.Pipe() // as a disk that is full: each write of it fails
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	defer full.Close()
	for _, line := range []string{"actions", "actions --json", "nodes", "call users.get id=u-1", "gen ts", "gen diff " + os.Getenv("SABIR_URL"), "config schema",
		"top --every 100ms", "top --every 100ms --json", "version", "--help"} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		var errOut bytes.Buffer
		code := execute(ctx, strings.Fields(line), strings.NewReader(""), full, &errOut)
		cancel()
		if code != exitFailed || !strings.Contains(errOut.String(), "write ") {
			t.Errorf("%s: exit code %d, %s", line, code, errOut.String())
		}
	}
}

func TestWrongUsageExitsWith2AndSaysWhereHelpIs(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"unknown command":     {[]string{"cal"}, `there is no command "cal"; did you mean call?`},
		"a slip":              {[]string{"nodess"}, `there is no command "nodess"; did you mean nodes`},
		"no command of its":   {[]string{"config", "chek"}, `config takes check, show, schema, list or set: what is "chek"?`},
		"unknown shell":       {[]string{"completion", "tcsh"}, `what is "tcsh"?`},
		"more than a shell":   {[]string{"completion", "bash", "x"}, `what is "x"?`},
		"help about nothing":  {[]string{"help", "nope"}, `there is no command "nope"`},
		"no time for a call":  {[]string{"nodes", "--timeout", "0s"}, "the timeout is 0s: want more than 0"},
		"no letters":          {[]string{"channels", "dead", "a.dead", "--limit", "-1"}, "the limit is -1: want 1 to 10 000"},
		"zero callers":        {[]string{"bench", "users.get", "-c", "0"}, "the number of callers is 0"},
		"unknown flag":        {[]string{"call", "--foo"}, "unknown flag: --foo"},
		"bad flag value":      {[]string{"call", "a.b", "--timeout", "soon"}, "--timeout"},
		"no action":           {[]string{"call"}, "call needs an action"},
		"too many arguments":  {[]string{"nodes", "x"}, `nodes takes no argument: what is "x"?`},
		"bad JSON":            {[]string{"call", "users.get", `{"id":`}, "unexpected end of JSON input (at byte 6)"},
		"no field":            {[]string{"call", "users.get", "id=u-1", "u-2"}, `"u-2" is no field`},
		"field twice":         {[]string{"call", "users.get", "id=a", "id=b"}, "the field id is given twice"},
		"missing file":        {[]string{"call", "users.get", "@/no/such/file"}, "no such file"},
		"empty stdin":         {[]string{"call", "users.get", "-"}, "it is empty"},
		"bad metadata":        {[]string{"call", "users.get", "--meta", "x"}, `the metadata "x" is not key=value`},
		"no name of an event": {[]string{"emit", "a b", "--join", "tcp://127.0.0.1:1"}, `the name "a b" has the character ' '`},
		"too large a share":   {[]string{"route", "set", "users.get", "v2=500%", "--join", "tcp://127.0.0.1:1"}, "500"},
		"no pattern of names": {[]string{"route", "set", "a b", "v2=5%", "--join", "tcp://127.0.0.1:1"}, `the pattern "a b" has the character ' '`},
		"bad pattern":         {[]string{"actions", "[*"}, "cannot be read"},
		"bad URL":             {[]string{"nodes", "--url", "ftp://x"}, "http"},
		"no callers":          {[]string{"bench", "users.get", "-c", "-1"}, "the number of callers is -1"},
		"no time":             {[]string{"bench", "users.get", "-d", "0s"}, "duration"},
		"bad rate":            {[]string{"demo", "--rate", "-1"}, "rate"},
		"bad name":            {[]string{"new", "Shop"}, "lower-case"},
		"name of Go's":        {[]string{"new", "context"}, "--module"},
		"module of nonsense":  {[]string{"new", "shop", "--module", "../x"}, "no path of a module"},
		"a name that is none": {[]string{"new", "v2"}, "v2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			got := sabirRun(t, test.args...)
			if got.code != exitUsage || !strings.Contains(got.errOut, test.want) || !strings.Contains(got.errOut, "--help") || got.out != "" {
				t.Errorf("%+v, want exit code 2 and %q", got, test.want)
			}
			asJSON := sabirRun(t, append(test.args, "--json")...)
			failure := oneJSON[failureJSON](t, asJSON.errOut)
			if asJSON.code != exitUsage || failure.Exit != exitUsage || failure.Error.Name != "Usage" || asJSON.out != "" {
				t.Errorf("with --json: %+v", asJSON)
			}
		})
	}
}

// failureJSON is the form of a failure with --json: what programs rely on.
type failureJSON struct {
	Error struct {
		Code, Name, Message, Node string
		Data                      any
		Retryable                 bool
	}
	Exit int
}

func TestTheKeyIsNeverPrinted(t *testing.T) {
	const key = "0123456789-secret-key"
	startDemo(t)
	t.Setenv("SABIR_KEY", key)
	t.Setenv("SABIR_HTTP_KEY", key)
	for _, args := range [][]string{{"--help"}, {"call", "--help"}, {"nodes"}, {"nodes", "--url", nowhere}, {"call", "no.such"},
		{"version"}, {"nope"}, {"nodes", "--url", "ftp://x"}, {"demo", "--http", ":0", "--for", "1ms"}} {
		for _, extra := range [][]string{nil, {"--json"}, {"--key", key}} {
			if got := sabirRun(t, append(args, extra...)...); strings.Contains(got.out+got.errOut, key) {
				t.Errorf("%v %v: %+v", args, extra, got)
			}
		}
	}
}
