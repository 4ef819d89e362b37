package brokers

import (
	"os"
	"path/filepath"
	"testing"
)

// Disk is a small disk of its own, for tests that fill it. It is in memory.
type Disk struct {
	Dir  string
	fill string // the file that takes the space
}

// SmallDisk mounts a disk of so many MB, which ends with the test. Where that may not be done the test is [NotTested].
func SmallDisk(t testing.TB, megabytes int) *Disk {
	t.Helper()
	dir := t.TempDir()
	if err := mountMemory(t, dir, megabytes); err != nil {
		NotTested(t, "a disk of %d MB could not be mounted, which takes root on Linux: %v", megabytes, err)
	}
	return &Disk{Dir: dir, fill: filepath.Join(dir, "fill")}
}

// Fill writes a file until so many MB are left, 0 for a disk that takes no byte more.
func (d *Disk) Fill(t testing.TB, leave int) {
	t.Helper()
	f, err := os.OpenFile(d.fill, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 64 << 10; size > 0 && left(t, d.Dir) >= leave<<20+size; { // a write that does not fit takes what there is, or nothing
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}

// Free removes that file.
func (d *Disk) Free(t testing.TB) {
	t.Helper()
	if err := os.Remove(d.fill); err != nil {
		t.Fatal(err)
	}
}
