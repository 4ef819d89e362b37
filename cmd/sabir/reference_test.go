package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var updateReference = flag.Bool("update-reference", false, "write docs/reference/cli.md anew")

const referencePage = "../../docs/reference/cli.md"

// reference is the page of all commands and flags, as --help has them.
func reference(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Command line: reference\n\nEvery command of `sabir` and its flags. [The guide](../cli.md) says what they are for.\n" +
		"This page is made by the program (`go test ./cmd/sabir -run TestTheReference -update-reference`); a test compares them.\n")
	fmt.Fprintf(&b, "\n## Flags of all commands\n\n```text\n%s```\n", root.PersistentFlags().FlagUsages())
	var add func(c *cobra.Command)
	add = func(c *cobra.Command) {
		if c != root && !c.Hidden && c.Name() != "help" {
			fmt.Fprintf(&b, "\n## %s\n\n%s.\n\n```text\n%s\n```\n", c.CommandPath(), strings.TrimSuffix(c.Short, "."), c.UseLine())
			if flags := c.LocalNonPersistentFlags(); flags.HasAvailableFlags() {
				fmt.Fprintf(&b, "\n```text\n%s```\n", flags.FlagUsages())
			}
			if c.Example != "" {
				fmt.Fprintf(&b, "\n```text\n%s\n```\n", dedent(c.Example))
			}
		}
		for _, below := range c.Commands() {
			if !below.Hidden && below.Name() != "help" {
				add(below)
			}
		}
	}
	add(root)
	return b.String()
}

// dedent takes two spaces from the beginning of each line, as examples have them.
func dedent(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(l, "  ")
	}
	return strings.Join(lines, "\n")
}

func TestTheReferenceHasEveryCommandAndFlag(t *testing.T) {
	c := cli{stdout: os.Stdout, stderr: os.Stderr}
	want := reference(c.root())
	if *updateReference {
		if err := os.WriteFile(referencePage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(referencePage)
	if err != nil {
		t.Fatal(err)
	}
	if strings.ReplaceAll(string(got), "\r\n", "\n") != want {
		t.Error("docs/reference/cli.md is older than the program: run go test ./cmd/sabir -run TestTheReference -update-reference")
	}
	if n := strings.Count(want, "\n## "); n < 15 {
		t.Errorf("%d commands", n)
	}
}

func TestTheTableOfCommandsHasEach(t *testing.T) {
	page, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(page), "\n## ")
	c := cli{stdout: os.Stdout, stderr: os.Stderr}
	for _, command := range c.root().Commands() {
		if name := command.Name(); !command.Hidden && name != "help" && !strings.Contains(table, "`"+name) {
			t.Errorf("docs/cli.md does not say what sabir %s does", name)
		}
	}
}
