package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	commandBlocks = regexp.MustCompile("(?ms)^ *```sh commands\n(.*?)^ *```$")
	words         = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)
	// What stands before a command of sabir on a page: input for it, or a program that starts it.
	before = regexp.MustCompile(`^.*(?:\| |-- )(sabir )`)
	// What stands behind a command: a comment, "&", or a program that reads its output.
	behind = regexp.MustCompile(` (?:#.*|&|\| .*)$`)
)

// argumentsOf is the words of a command on a page, without quotes, and without what stands before and behind it.
func argumentsOf(line string) []string {
	line = before.ReplaceAllString(strings.TrimSpace(line), "$1")
	line = strings.TrimSpace(behind.ReplaceAllString(line, ""))
	line = strings.Replace(line, "go run ./cmd/sabir ", "sabir ", 1)
	args := words.FindAllString(line, -1)
	for i, a := range args {
		args[i] = strings.Trim(a, `'"`)
	}
	return args
}

// meant checks a command on a page, which may be one of sabir, of go on packages of the checkout, or of ./test.
func meant(args []string) error {
	switch args[0] {
	case "sabir":
		c := cli{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard}
		command, rest, err := c.root().Find(args[1:])
		if err == nil {
			err = command.ParseFlags(rest)
		}
		if err == nil {
			err = command.ValidateArgs(command.Flags().Args())
		}
		if err == nil && (!command.HasParent() || !command.Runnable()) {
			err = errors.New("this is no whole command")
		}
		return err
	case "go":
		for _, arg := range args[1:] {
			if strings.HasPrefix(arg, "./") {
				if _, err := os.Stat("../../" + strings.TrimSuffix(arg, "...")); err != nil {
					return err
				}
			}
		}
		return nil
	case "./test":
		script, err := os.ReadFile("../../test")
		if err == nil && len(args) > 1 && !strings.Contains(string(script), "\n"+args[1]+")") {
			err = fmt.Errorf("./test knows no %s", args[1])
		}
		return err
	}
	return errors.New("it is no command of sabir, of go or of ./test")
}

func TestTheCommandsOnThePagesCanBeMeant(t *testing.T) {
	count := 0
	root := os.DirFS("../..")
	check := func(page string) error {
		text, err := fs.ReadFile(root, page)
		for _, block := range commandBlocks.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\r\n", "\n"), -1) {
			for line := range strings.Lines(block[1]) {
				args := argumentsOf(line)
				if len(args) == 0 {
					continue
				}
				count++
				if err := meant(args); err != nil {
					t.Errorf("%s: %s: %v", page, strings.TrimSpace(line), err)
				}
			}
		}
		return err
	}
	err := fs.WalkDir(root, "docs", func(page string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(page, ".md") {
			return err
		}
		return check(page)
	})
	if err := errors.Join(err, check("README.md")); err != nil {
		t.Fatal(err)
	}
	if count < 50 {
		t.Errorf("%d commands: the test looks in the wrong place", count)
	}
}

func TestWhatIsNoCommandIsSeenOnAPage(t *testing.T) {
	for line, want := range map[string]bool{
		"sabir demo --nodes 3 --processes   # a cluster":         true,
		"jq … | sabir call orders.create -":                      true,
		"claude mcp add shop -- sabir mcp --join tcp://:7700":    true,
		"go run ./cmd/sabir nodes --join tcp://127.0.0.1:7700 &": true,
		"./test fuzz codec/native | tee fuzz.log":                true,
		"go test ./examples/tutorial/...":                        true,
		"sabir demos":                                            false,
		"sabir demo --node 3":                                    false,
		"go run ./examples/none":                                 false,
		"./test all":                                             false,
		"rm -rf /":                                               false,
	} {
		if err := meant(argumentsOf(line)); (err == nil) != want {
			t.Errorf("%s: %v", line, err)
		}
	}
}
