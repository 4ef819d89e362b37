//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAPipeThatIsTheOutputIsWrittenToAndNotReplaced(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // both ways, so that nobody waits for the other end
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	got := sabirRun(t, "gen", "api", written(t, described("lang")), "-o", pipe)
	text := make([]byte, 1<<10)
	n, err := reader.Read(text)
	if err != nil || got.code != exitOK || got.out != "" || !strings.Contains(string(text[:n]), "users.get") {
		t.Errorf("%+v, and the pipe has %q, %v", got, text[:n], err)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		t.Errorf("the pipe is %v, %v", info, err)
	}
}

func TestALinkThatIsTheOutputStaysALinkToAFileOfItsMode(t *testing.T) {
	folder := t.TempDir()
	file, link := filepath.Join(folder, "api.ts"), filepath.Join(folder, "link.ts")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	got := sabirRun(t, "gen", "ts", written(t, described("lang")), "-o", link)
	text, err := os.ReadFile(file)
	if err != nil || got.code != exitOK || !strings.Contains(string(text), "createClient") {
		t.Errorf("%+v, and the file has %d bytes, %v", got, len(text), err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link is %v, %v", info, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
}
