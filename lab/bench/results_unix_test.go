//go:build unix

package bench

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A limit of the process stands for a full disk: either way a write takes some bytes and then fails.
func TestADiskThatTakesNoMoreIsAnErrorAndLeavesNoFile(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	little := before
	little.Cur = 16
	dir := t.TempDir()
	file := filepath.Join(dir, "results.json")
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &little); err != nil {
		t.Fatal(err)
	}
	saved := (&Results{}).Save(file)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if saved == nil || !strings.Contains(saved.Error(), file) {
		t.Errorf("got %v", saved)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("files %v, %v", left, err)
	}
}

func TestAFolderThatTakesNoFileIsAnErrorThatNamesIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "none", "results.json")
	if err := (&Results{}).Save(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("got %v", err)
	}
}
