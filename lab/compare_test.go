package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestOneRunIsComparedWithTheLast(t *testing.T) {
	cache := t.TempDir()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} { // where systems have a user's cache folder
		t.Setenv(name, cache)
	}
	last, err := lastRun()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("results", "2026-11-30", "mion.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(last, text, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := output(compareCommand(), "results/2026-11-30")
	if err != nil || !strings.Contains(out, "groups were measured in both") {
		t.Errorf("%.200s, %v", out, err)
	}
}

func TestRoundsAndDurationsThatCannotBeAreRefused(t *testing.T) {
	for _, flag := range []string{"--rounds=0", "--rounds=-1", "--duration=0s", "--duration=-1s"} {
		out, err := output(runCommand(), flag, "--json", filepath.Join(t.TempDir(), "x.json"))
		if err == nil || !strings.Contains(err.Error(), "want") {
			t.Errorf("%s: %s, %v", flag, out, err)
		}
	}
}

func output(command *cobra.Command, args ...string) (string, error) {
	var out bytes.Buffer
	command.SetArgs(args)
	command.SetOut(&out)
	command.SetErr(io.Discard)
	command.SilenceUsage = true
	err := command.Execute()
	return out.String(), err
}
