package disk_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/disk"
)

// soon waits until the file system is asked again.
func soon(t *testing.T, what string, holds func() bool) {
	t.Helper()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for end := time.Now().Add(10 * time.Second); !holds(); <-again.C {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

func TestAFolderIsFullWhileItsDiskHasLessThanTheReserve(t *testing.T) {
	small := brokers.SmallDisk(t, 16) // of which 1 MB is kept free
	f := disk.Of(small.Dir)
	if err := f.Full(); err != nil {
		t.Fatal(err)
	}
	if f.Total() != 16<<20 {
		t.Errorf("it has %d bytes", f.Total())
	}
	small.Fill(t, 2)
	if err := f.Writable(); err != nil {
		t.Errorf("with 2 MB left: %v", err)
	}
	small.Free(t)
	small.Fill(t, 0)
	soon(t, "it is not full", func() bool { return f.Full() != nil && f.Exhausted() != nil && f.Writable() != nil })
	if err := f.Full(); !strings.Contains(err.Error(), small.Dir) {
		t.Errorf("the error does not name the folder: %v", err)
	}
	small.Free(t)
	soon(t, "it stays full", func() bool { return f.Full() == nil && f.Exhausted() == nil })
}

func TestSmallNotesMayUseMostOfTheReserve(t *testing.T) {
	small := brokers.SmallDisk(t, 32) // of which 2 MB are kept free, and 0.25 of notes
	f := disk.Of(small.Dir)
	small.Fill(t, 1)
	soon(t, "it is not full", func() bool { return f.Full() != nil })
	if err := f.Exhausted(); err != nil {
		t.Errorf("for notes: %v", err)
	}
}

// Between two questions to the file system much can be written.
func TestWhatIsAboutToBeWrittenCounts(t *testing.T) {
	small := brokers.SmallDisk(t, 16)
	f := disk.Of(small.Dir)
	written := 0
	for ; written < 30 && f.Claim(1<<20) == nil; written++ {
		if err := os.WriteFile(filepath.Join(small.Dir, string(rune('a'+written))), make([]byte, 1<<20), 0o600); err != nil {
			t.Fatalf("the disk ended after %d MB: %v", written, err)
		}
	}
	if written < 14 || written > 15 {
		t.Errorf("%d MB were written on a disk of 16, want 14 or 15", written)
	}
}

func TestAFailedWriteCountsUntilTheStoreIsMended(t *testing.T) {
	f := disk.Of(t.TempDir())
	f.Fail(syscall.EDQUOT)
	if err := f.Full(); !errors.Is(err, syscall.EDQUOT) {
		t.Errorf("got %v", err)
	}
	if err := f.Writable(); err != nil {
		t.Errorf("there is space, and the error is %v", err)
	}
	f.Mend()
	if err := f.Full(); err != nil {
		t.Error(err)
	}
}

func TestAFolderThatIsNotThereIsNotFull(t *testing.T) {
	if err := disk.Of(filepath.Join(t.TempDir(), "none")).Full(); err != nil {
		t.Error(err)
	}
}
