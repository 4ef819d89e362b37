package main

import (
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	commandBlocks = regexp.MustCompile("(?ms)^```sh commands\n(.*?)^```$")
	words         = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)
)

// argumentsOf is the arguments of a line of a page: without "sabir", quotes, the comment, and what is piped into it.
func argumentsOf(line string) []string {
	line, _, _ = strings.Cut(line, " #")
	if _, after, piped := strings.Cut(line, "| "); piped {
		line = after
	}
	args := words.FindAllString(line, -1)
	for i, a := range args {
		args[i] = strings.Trim(a, `'"`)
	}
	return args
}

func TestTheCommandsOnThePagesCanBeMeant(t *testing.T) {
	count := 0
	pages := os.DirFS("../../docs")
	err := fs.WalkDir(pages, ".", func(page string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(page, ".md") {
			return err
		}
		text, err := fs.ReadFile(pages, page)
		if err != nil {
			return err
		}
		for _, block := range commandBlocks.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\r\n", "\n"), -1) {
			for line := range strings.Lines(block[1]) {
				args := argumentsOf(line)
				if len(args) == 0 {
					continue
				}
				count++
				if args[0] != "sabir" {
					t.Errorf("docs/%s: %q is no command of sabir", page, strings.TrimSpace(line))
					continue
				}
				c := cli{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard}
				command, rest, err := c.root().Find(args[1:])
				if err == nil {
					err = command.ParseFlags(rest)
				}
				if err == nil {
					err = command.ValidateArgs(command.Flags().Args())
				}
				if err != nil || !command.HasParent() || !command.Runnable() {
					t.Errorf("docs/%s: %s: this is no whole command: %v", page, strings.TrimSpace(line), err)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if count < 20 {
		t.Errorf("%d commands: the test looks in the wrong place", count)
	}
}
