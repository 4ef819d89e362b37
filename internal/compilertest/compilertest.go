// Package compilertest tests what the compiler refuses. It is for tests only.
package compilertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var place = regexp.MustCompile(`\.go:(\d+):`)

// Refuses builds the package in a folder below the test's, which has one file. The compiler must refuse each line of a
// function that ends in a comment, which says why, and no other; there must be at least that many.
func Refuses(t *testing.T, folder string, atLeast int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%s has %d files (%v), want one", folder, len(files), err)
	}
	source, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for i, line := range strings.Split(string(source), "\n") {
		if _, why, ok := strings.Cut(line, " // "); ok && strings.HasPrefix(line, "\t") {
			want[strconv.Itoa(i+1)] = why
		}
	}
	if len(want) < atLeast {
		t.Fatalf("only %d lines to refuse", len(want))
	}
	out, err := exec.Command("go", "build", "-gcflags=-e", "-o", os.DevNull, "./"+folder).CombinedOutput()
	if err == nil {
		t.Fatal("everything compiles")
	}
	refused := map[string]bool{}
	for _, at := range place.FindAllSubmatch(out, -1) {
		refused[string(at[1])] = true
	}
	for line, why := range want {
		if !refused[line] {
			t.Errorf("line %s compiles: %s", line, why)
		}
	}
	if len(refused) != len(want) {
		t.Errorf("%d lines are refused, want %d:\n%s", len(refused), len(want), out)
	}
}
